import { isAscii } from 'node:buffer'
import { setImmediate } from 'node:timers/promises'
import { type Connection, ServerError } from 'keyspec'
import {
  flag,
  globOf,
  int,
  NO_KEY,
  ONE_KEY,
  pageOf,
  pattern,
  type Reply,
  script,
  type Shape,
  textArgument as text,
} from 'keyspec/extend'
import { decodeKey } from '../match/key-name.ts'
import * as lua from './lua.gen.ts'
import { Unpacker } from './packed.ts'
import { throttle } from './throttle.ts'

/** What is asked of every key beside its type. */
export type Fact = 'ttl' | 'memory' | 'encoding' | 'idle'

/** A key that is there, and what the server says of it. */
export interface KeyFacts {
  readonly key: Buffer
  /** Its text, or `undefined` where the bytes are no UTF-8. */
  readonly name: string | undefined
  /** What TYPE says: one of `RedisType`, or a module's own. */
  readonly type: string
  /** With `ttl`: the time it has left in ms, or `'forever'`. */
  readonly ttlMs?: number | 'forever'
  /** With `memory`: what MEMORY USAGE says, for large collections an estimate from some of their elements. */
  readonly bytes?: number
  /** With `encoding`: how the server keeps it, `listpack`. */
  readonly encoding?: string
  /** With `idle`: how long nobody has touched it, in ms; `undefined` too under an LFU policy, where no server knows. */
  readonly idleMs?: number | undefined
}

/** How a walk goes. */
export interface ScanOptions {
  /** Only keys that begin with this text. */
  readonly prefix?: string | undefined
  readonly facts?: readonly Fact[]
  /**
   * How many keys one step is to look at, at the most: 50 unless told, and up to 1000 where the walk takes no rest, as many
   * as a step that holds the server for some 3 ms.
   */
  readonly count?: number | undefined
  /** The largest part of the server's time to take, above 0 and up to 1 (no rest): 0.1 unless told. */
  readonly maxLoad?: number | undefined
  /**
   * Look at about so many keys rather than at all: those that follow a random place in the hash table of each master.
   * Keys stand there in the order of their hashes, so that these are as good as drawn (but on a cluster with a table for
   * each slot, as of Redis 7.4 and Valkey 8, keys of one slot come together).
   */
  readonly sample?: number | undefined
  /** What draws that place, as `Math.random` does. */
  readonly random?: (() => number) | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Every key of every master, step by step with SCAN, as batches. A key that comes or goes meanwhile may be missed, and one
 * may be shown twice while the server rehashes. Each step is one script of bounded length, and the walk rests after it.
 */
export async function* scanKeys(
  connection: Connection,
  options: ScanOptions = {},
): AsyncGenerator<readonly KeyFacts[]> {
  for await (const { keys } of steps(connection, options)) if (keys.length > 0) yield keys
}

/** One step of a walk. */
export interface ScanStep {
  readonly keys: readonly KeyFacts[]
  /** Which of the masters it was, from 0. */
  readonly master: number
}

/** The steps of a `scanKeys`, those that found nothing too, and on which master they were. */
export async function* steps(connection: Connection, options: ScanOptions = {}): AsyncGenerator<ScanStep> {
  const masters = await connection.masters()
  const rest = throttle(options.maxLoad, options.signal)
  const ask = asking(options)
  const limits = options.sample === undefined ? undefined : await shares(masters, options.sample)
  const random = options.random ?? Math.random
  // Where all of the server's time may be taken, it is at the next step while this one is looked at.
  const ahead = options.maxLoad === 1 && options.sample === undefined
  for (const [index, master] of masters.entries()) {
    const start = limits === undefined ? 0 : startOf(limits[index]!.size, random)
    let cursor = String(start)
    let limit = limits?.[index]!.limit ?? Infinity
    let wrapped = start === 0
    let first: Set<string> | undefined
    if (limit <= 0) continue
    const next = () => rest(() => ask.step(master, cursor, limit))
    let asked = next()
    for (let last = false; !last;) {
      const step = await asked
      options.signal?.throwIfAborted()
      if (ahead && step.next !== '0') {
        cursor = step.next
        asked = next()
        // Whoever has seen enough never asks what became of it.
        asked.catch(() => undefined)
        // Clients write when the turn of the event loop is over: reading this answer first would hold the next one back.
        await setImmediate()
        yield { keys: await read(step), master: index }
        continue
      }
      let keys = await read(step)
      if (start !== 0) {
        // The last step of a sample that went all the way round may reach into its first.
        if (first === undefined) first = new Set(keys.map(({ key }) => key.toString('latin1')))
        else if (wrapped) keys = keys.filter(({ key }) => !first!.has(key.toString('latin1')))
      }
      limit -= keys.length
      cursor = step.next
      if (limit <= 0) last = true
      else if (cursor === '0') {
        last = wrapped
        wrapped = true
      } else if (wrapped && start !== 0 && placeOf(Number(cursor)) >= placeOf(start)) last = true
      yield { keys, master: index }
      if (!last) asked = next()
    }
  }

  async function read(step: Step): Promise<readonly KeyFacts[]> {
    const { keys, moving } = step.read()
    if (!moving) return keys
    const elsewhere = keys.filter(({ type }) => type === MOVING).map(({ key }) => key)
    return [...keys.filter(({ type }) => type !== MOVING), ...(await ask.each(connection, elsewhere))]
  }
}

/** How many keys each master has, and how many of the sample are its part. */
async function shares(
  masters: readonly Connection[],
  sample: number,
): Promise<readonly { readonly size: number; readonly limit: number }[]> {
  const sizes = await sizesOf(masters)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  return sizes.map((size) => ({
    size,
    limit: sample >= total ? Infinity : Math.min(size, Math.max(LEAST_OF_A_MASTER, (sample * size) / total)),
  }))
}

/** How many keys each of the masters has, those that have run out and are not yet removed among them. */
export async function sizesOf(masters: readonly Connection[]): Promise<number[]> {
  return Promise.all(masters.map(async (master) => (await master.send(['DBSIZE'], NO_KEY)) as number))
}

// So that the spread of its values can be told.
const LEAST_OF_A_MASTER = 30

/** A random place in a hash table of so many keys: its size is a power of two, and hardly ever below theirs. */
function startOf(size: number, random: () => number): number {
  return Math.floor(random() * 2 ** Math.floor(Math.log2(Math.max(1, size))))
}

/** Where a cursor stands in the order of SCAN, which counts with the highest bit first (Redis, dict.c). */
function placeOf(cursor: number): number {
  let place = 0
  let rest = cursor
  for (let bit = 0.5; rest > 0; bit /= 2) {
    if (rest % 2 === 1) place += bit
    rest = Math.floor(rest / 2)
  }
  return place
}

/** What is to be known of these keys, each asked for by itself; a key that is gone is left out. */
export function inspectKeys(
  connection: Connection,
  keys: readonly Buffer[],
  facts: readonly Fact[] = [],
): Promise<KeyFacts[]> {
  return asking({ facts }).each(connection, keys)
}

/** How many keys one step looks at to begin with: where the server is to be used whole, a step may be a longer one. */
function keysAtOnce(maxLoad: number | undefined): number {
  return maxLoad === 1 ? 250 : 50
}

/** How many keys the next step is to look at, by how long the last ones held the server. */
export class StepSize {
  readonly #least: number
  readonly #most: number
  #count: number

  constructor(maxLoad: number | undefined, count: number | undefined) {
    this.#count = count ?? keysAtOnce(maxLoad)
    this.#most = count ?? (maxLoad === 1 ? MOST_AT_ONCE : this.#count)
    this.#least = Math.min(LEAST_HELD, this.#count)
  }

  get count(): number {
    return this.#count
  }

  /** Learns from a step over so many keys; a server that does not tell how long it took says 0. */
  learn(keys: number, micros: number): void {
    if (micros <= 0 || keys < this.#least) return
    const wanted = (HELD_MICROS * keys) / micros
    // One step may have met a stall, and many of them did not.
    const next = wanted < this.#count ? (this.#count + wanted) / 2 : this.#count + (wanted - this.#count) / 8
    this.#count = Math.round(Math.min(this.#most, Math.max(this.#least, next)))
  }
}

// A step is to hold the server for so long, where everybody else waits.
const HELD_MICROS = 3000
const LEAST_HELD = 100
const LEAST_AT_ONCE = 10
const MOST_AT_ONCE = 1000

const MOVING = '?'
const SECOND: Shape = { firstKey: 2, keyCount: 1 }
const ORDER: readonly Fact[] = ['ttl', 'memory', 'encoding', 'idle']

interface Step {
  readonly next: string
  /** The keys, and whether some are of a slot that is moving. */
  read(): { readonly keys: readonly KeyFacts[]; readonly moving: boolean }
}

type Answer = readonly [next: Buffer, micros: number, keys: Buffer, facts: Buffer, ...words: Buffer[]]

const stepScript = script('inspect/scan', {
  keys: [],
  args: { cursor: text, count: int, match: text, ttl: flag, memory: flag, encoding: flag, idle: flag },
  lua: lua.scan,
  commands: ['MEMORY USAGE', 'OBJECT ENCODING', 'OBJECT IDLETIME', 'PTTL', 'SCAN', 'TIME', 'TYPE'],
  bytes: true,
  reply: (reply) => {
    // A cursor of another form would have the walk go on for ever.
    if (!Array.isArray(reply) || !/^\d+$/.test(String(reply[0])))
      throw new TypeError('the server answered no cursor')
    return reply as unknown as Answer
  },
})

function asking({ prefix = '', facts = [], maxLoad, count: most }: ScanOptions) {
  const match = prefix === '' ? '' : `${globOf(pattern(prefix))}*`
  const asked = ORDER.filter((fact) => facts.includes(fact))
  const flags = Object.fromEntries(ORDER.map((fact) => [fact, asked.includes(fact)])) as Record<Fact, boolean>
  const size = new StepSize(maxLoad, most)
  // A user who may read but not run scripts gets the same, in more commands.
  let packed = true

  return {
    /** Looks at no more keys than are wanted, or hardly more: a sample of a hundred should not be all there are. */
    async step(master: Connection, cursor: string, wanted: number): Promise<Step> {
      const count = Math.min(size.count, Math.max(LEAST_AT_ONCE, Math.ceil(wanted)))
      if (packed) {
        try {
          const answer = await stepScript.run(master, {}, { cursor, count, match, ...flags })
          size.learn(count, answer[1])
          return { next: answer[0].toString(), read: () => unpack(answer) }
        } catch (error) {
          if (!isRefused(error)) throw error
          packed = false
        }
      }
      const scan = ['SCAN', cursor, 'COUNT', String(count), ...(match === '' ? [] : ['MATCH', match])]
      const [next, names] = pageOf<Buffer>(await master.send(scan, { ...NO_KEY, bytes: true }), 'SCAN')
      const keys = await each(master, names)
      return { next, read: () => ({ keys, moving: false }) }
    },
    each,
  }

  function unpack([, , bytes, packedFacts, ...rest]: Answer): ReturnType<Step['read']> {
    const words = rest.map(String)
    const read = new Unpacker(packedFacts)
    const keys: KeyFacts[] = []
    // Where all are plain, their texts are pieces of one text.
    const plain = isAscii(bytes) ? bytes.toString('latin1') : undefined
    const ends = read.array()
    const width = 2 + asked.length
    let at = 0
    for (let index = 0; index < ends; index += width) {
      const from = at
      at += read.number()
      const key = bytes.subarray(from, at)
      const seen: Writable = {
        key,
        name: plain === undefined ? decodeKey(key) : plain.slice(from, at),
        type: words[read.number() - 1]!,
      }
      if (flags.ttl) seen.ttlMs = ttlOf(read.number())
      if (flags.memory) seen.bytes = read.number()
      if (flags.encoding) seen.encoding = words[read.number() - 1]!
      if (flags.idle) seen.idleMs = idleOf(read.number())
      keys.push(seen)
    }
    return { keys, moving: words.includes(MOVING) }
  }

  async function each(connection: Connection, keys: readonly Buffer[]): Promise<KeyFacts[]> {
    const found = await Promise.all(
      keys.map(async (key) => {
        const [type, ...values] = await Promise.all([
          connection.send(['TYPE', key], ONE_KEY),
          ...asked.map((fact) => COMMANDS[fact](connection, key)),
        ])
        return type === 'none' || values.includes(null) ? [] : [seenKey(key, String(type), values)]
      }),
    )
    return found.flat()
  }

  function seenKey(key: Buffer, type: string, values: readonly Reply[]): KeyFacts {
    const seen: Writable = { key, name: decodeKey(key), type }
    for (const [index, fact] of asked.entries()) {
      const value = values[index]!
      if (fact === 'ttl') seen.ttlMs = ttlOf(value as number)
      else if (fact === 'memory') seen.bytes = value as number
      else if (fact === 'encoding') seen.encoding = String(value)
      else seen.idleMs = idleOf(value as number)
    }
    return seen
  }
}

type Writable = { -readonly [K in keyof KeyFacts]: KeyFacts[K] }

function ttlOf(ms: number): number | 'forever' {
  return ms < 0 ? 'forever' : ms
}

function idleOf(seconds: number): number | undefined {
  return seconds < 0 ? undefined : seconds * 1000
}

const COMMANDS: Readonly<Record<Fact, (connection: Connection, key: Buffer) => Promise<Reply>>> = {
  ttl: (connection, key) => connection.send(['PTTL', key], ONE_KEY),
  memory: (connection, key) => connection.send(['MEMORY', 'USAGE', key], SECOND),
  encoding: (connection, key) => connection.send(['OBJECT', 'ENCODING', key], SECOND),
  idle: (connection, key) =>
    connection.send(['OBJECT', 'IDLETIME', key], SECOND).catch((error: unknown) => {
      if (error instanceof ServerError) return -1
      throw error
    }),
}

function isRefused(error: unknown): boolean {
  return error instanceof ServerError && error.code === 'E_DENIED'
}
