import { isAscii } from 'node:buffer'
import { type Connection, ServerError, UnsupportedClientError } from 'keyspec'
import {
  arrayReply,
  bytesReply,
  flag,
  globOf,
  int,
  integerReply,
  listReply,
  NO_KEY,
  pageOf,
  pattern,
  type Reply,
  script,
  textArgument as text,
} from 'keyspec/extend'
import { decodeKey } from '../match/key-name.ts'
import { type Fact, idleOf, inspectKeys, type KeyFacts, ORDER, ttlOf, type WritableFacts } from './facts.ts'
import * as lua from './lua.gen.ts'
import { Unpacker } from './packed.ts'
import { StepSize } from './step-size.ts'

// A type that no key has: SCAN showed a key whose slot is being moved.
const MOVING = '?'
const NAMES = listReply(bytesReply)
/** One step of a walk, as the server answered it. */
export interface Step {
  /** The cursor of the next step; `0` ends the walk. */
  readonly next: string
  /** Reads the keys out of the answer. Those whose slot is being moved are asked for by themselves. */
  read(): Promise<readonly KeyFacts[]>
}

const stepScript = script('inspect/scan', {
  keys: [],
  args: { cursor: text, count: int, match: text, ttl: flag, memory: flag, encoding: flag, idle: flag },
  lua: lua.scan,
  commands: ['MEMORY USAGE', 'OBJECT ENCODING', 'OBJECT IDLETIME', 'PTTL', 'SCAN', 'TIME', 'TYPE'],
  bytes: true,
  reply: readAnswer,
})

function readAnswer(reply: Reply) {
  const [next, micros, keys, facts, ...words] = arrayReply(reply)
  const cursor = bytesReply(next ?? null)
  // A cursor of another form would have the walk go on for ever.
  if (!/^\d+$/.test(String(cursor))) throw new UnsupportedClientError('the server answered no cursor')
  return {
    cursor,
    micros: integerReply(micros ?? null),
    keys: bytesReply(keys ?? null),
    facts: bytesReply(facts ?? null),
    words: words.map((word) => String(bytesReply(word))),
  }
}

/** What every step of a walk asks for. */
export interface StepOptions {
  readonly prefix?: string | undefined
  readonly facts?: readonly Fact[]
  readonly maxLoad?: number | undefined
  readonly count?: number | undefined
}

/** Returns a function that makes one step of a walk. It looks at hardly more keys than are wanted: a sample should not be all there are. */
export function stepper({ prefix = '', facts = [], maxLoad, count: most }: StepOptions) {
  const match = prefix === '' ? '' : `${globOf(pattern(prefix))}*`
  const asked = ORDER.filter((fact) => facts.includes(fact))
  const flags = Object.fromEntries(ORDER.map((fact) => [fact, asked.includes(fact)])) as Record<Fact, boolean>
  const size = new StepSize(maxLoad, most)
  // A user who may read but not run scripts gets the same, in more commands.
  let packed = true

  return async (
    master: Connection,
    cursor: string,
    wanted: number,
    connection: Connection,
  ): Promise<Step> => {
    const count = Math.min(size.count, Math.max(LEAST_AT_ONCE, Math.ceil(wanted)))
    if (packed) {
      try {
        const answer = await stepScript.run(master, {}, { cursor, count, match, ...flags })
        size.learn(count, answer.micros)
        return { next: answer.cursor.toString(), read: () => settled(unpack(answer), connection, asked) }
      } catch (error) {
        if (!isDenied(error)) throw error
        packed = false
      }
    }
    const scan = ['SCAN', cursor, 'COUNT', String(count), ...(match === '' ? [] : ['MATCH', match])]
    const [next, names] = pageOf(NAMES, await master.send(scan, { ...NO_KEY, bytes: true }), 'SCAN')
    const keys = await inspectKeys(master, names, asked)
    return { next, read: async () => keys }
  }

  function unpack({ keys: bytes, facts: packedFacts, words }: Answer): KeyFacts[] {
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
      const seen: WritableFacts = {
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
    return keys
  }
}

type Answer = ReturnType<typeof readAnswer>

async function settled(
  keys: readonly KeyFacts[],
  connection: Connection,
  facts: readonly Fact[],
): Promise<readonly KeyFacts[]> {
  const elsewhere = keys.filter(({ type }) => type === MOVING).map(({ key }) => key)
  if (elsewhere.length === 0) return keys
  return [...keys.filter(({ type }) => type !== MOVING), ...(await inspectKeys(connection, elsewhere, facts))]
}

function isDenied(error: unknown): boolean {
  return error instanceof ServerError && error.code === 'E_DENIED'
}

const LEAST_AT_ONCE = 10
