import { type Connection, NO_KEY, ONE_KEY, type Reply, type Shape } from '../connection/connection.ts'
import { ServerError } from '../connection/server-error.ts'
import { pattern } from '../pattern.ts'
import { globOf } from '../kind/entry.ts'
import { flag, int, text } from '../script/argument.ts'
import { script } from '../script/script.ts'
import { textOf } from './key-name.ts'
import * as lua from './lua.gen.ts'
import { pace } from './pace.ts'

/** What is asked of every key beside its type. */
export type Fact = 'ttl' | 'memory' | 'encoding' | 'idle'

/** A key that is there, and what the server says of it. */
export interface SeenKey {
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
export interface WalkOptions {
  /** Only keys that begin with this text. */
  readonly prefix?: string | undefined
  readonly facts?: readonly Fact[]
  /** How many keys one step is to look at: 100 unless told. */
  readonly count?: number | undefined
  /** The largest part of the server's time to take, above 0 and up to 1 (no rest): 0.1 unless told. */
  readonly maxLoad?: number | undefined
  /** Look at about as many keys, taken from random places of the server's hash table, rather than at all. */
  readonly sample?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Every key of every master, step by step with SCAN, as batches. A key that comes or goes meanwhile may be missed, and one
 * may be shown twice while the server rehashes. Each step is one script of bounded length, and the walk rests after it.
 */
export async function* walk(
  connection: Connection,
  options: WalkOptions = {},
): AsyncGenerator<readonly SeenKey[]> {
  const masters = await connection.masters()
  const rest = pace(options.maxLoad, options.signal)
  const ask = asking(options)
  for (const master of masters) {
    const limit = options.sample === undefined ? undefined : Math.ceil(options.sample / masters.length)
    // Keys stand in the order of their hashes, so what follows any place in it is a random sample.
    let cursor = limit === undefined ? '0' : String(Math.floor(Math.random() * 2 ** 48))
    let wraps = limit === undefined ? 0 : 1
    let seen = 0
    let size = limit === undefined ? Infinity : ((await master.send(['DBSIZE'], NO_KEY)) as number)
    size = Math.min(size, limit ?? Infinity)
    for (;;) {
      const step = await rest(() => ask.step(master, cursor))
      const moving = step.keys.filter(({ type }) => type === MOVING)
      const keys =
        moving.length === 0
          ? step.keys
          : [
              ...step.keys.filter(({ type }) => type !== MOVING),
              ...(await ask.each(
                connection,
                moving.map(({ key }) => key),
              )),
            ]
      if (keys.length > 0) yield keys
      seen += keys.length
      cursor = step.next
      if (seen >= size) break
      if (cursor === '0' && wraps-- <= 0) break
    }
  }
}

/** What is to be known of these keys, each asked for by itself; a key that is gone is left out. */
export function look(
  connection: Connection,
  keys: readonly Buffer[],
  facts: readonly Fact[] = [],
): Promise<SeenKey[]> {
  return asking({ facts }).each(connection, keys)
}

const MOVING = '?'
const SECOND: Shape = { firstKey: 2, keyCount: 1 }
const ORDER: readonly Fact[] = ['ttl', 'memory', 'encoding', 'idle']

interface Step {
  readonly next: string
  readonly keys: readonly SeenKey[]
}

const stepScript = script('inspect/walk', {
  keys: [],
  args: { cursor: text, count: int, match: text, ttl: flag, memory: flag, encoding: flag, idle: flag },
  lua: lua.walk,
  bytes: true,
  reply: (reply) => reply as readonly (Buffer | number)[],
})

function asking({ prefix = '', facts = [], count = 100 }: WalkOptions) {
  const match = prefix === '' ? '' : `${globOf(pattern(prefix))}*`
  const asked = ORDER.filter((fact) => facts.includes(fact))
  const flags = Object.fromEntries(ORDER.map((fact) => [fact, asked.includes(fact)])) as Record<Fact, boolean>
  // A user who may read but not run scripts gets the same, in more commands.
  let packed = true

  return {
    async step(master: Connection, cursor: string): Promise<Step> {
      if (packed) {
        try {
          return unpack(await stepScript.run(master, {}, { cursor, count, match, ...flags }))
        } catch (error) {
          if (!isRefused(error)) throw error
          packed = false
        }
      }
      const scan = ['SCAN', cursor, 'COUNT', String(count), ...(match === '' ? [] : ['MATCH', match])]
      const [next, names] = (await master.send(scan, { ...NO_KEY, bytes: true })) as [Buffer, Buffer[]]
      return { next: next.toString(), keys: await each(master, names) }
    },
    each,
  }

  function unpack(answer: readonly (Buffer | number)[]): Step {
    const keys: SeenKey[] = []
    const width = 2 + asked.length
    for (let at = 1; at < answer.length; at += width) {
      const key = answer[at] as Buffer
      const type = String(answer[at + 1])
      keys.push(seenKey(key, type, answer.slice(at + 2, at + width)))
    }
    return { next: String(answer[0]), keys }
  }

  async function each(connection: Connection, keys: readonly Buffer[]): Promise<SeenKey[]> {
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

  function seenKey(key: Buffer, type: string, values: readonly Reply[]): SeenKey {
    const seen: { -readonly [K in keyof SeenKey]: SeenKey[K] } = { key, name: textOf(key), type }
    for (const [index, fact] of asked.entries()) {
      const value = values[index]!
      if (fact === 'ttl') seen.ttlMs = (value as number) < 0 ? 'forever' : (value as number)
      else if (fact === 'memory') seen.bytes = value as number
      else if (fact === 'encoding') seen.encoding = String(value)
      else seen.idleMs = (value as number) < 0 ? undefined : (value as number) * 1000
    }
    return seen
  }
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
  return error instanceof ServerError && error.reply.startsWith('NOPERM')
}
