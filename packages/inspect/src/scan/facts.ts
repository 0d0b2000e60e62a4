import { type Connection, ServerError } from 'keyspec'
import { decodeReply, integerReply, ONE_KEY, type Reply, type Shape } from 'keyspec/extend'
import { decodeKey } from '../match/key-name.ts'

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

/** The facts, in the order in which a scan answers them. */
export const ORDER: readonly Fact[] = ['ttl', 'memory', 'encoding', 'idle']

/** What is to be known of these keys, each asked for by itself; a key that is gone is left out. */
export async function inspectKeys(
  connection: Connection,
  keys: readonly Buffer[],
  facts: readonly Fact[] = [],
): Promise<KeyFacts[]> {
  const asked = ORDER.filter((fact) => facts.includes(fact))
  const found = await Promise.all(
    keys.map(async (key) => {
      const [type, ...values] = await Promise.all([
        connection.send(['TYPE', key], ONE_KEY),
        ...asked.map((fact) => COMMANDS[fact](connection, key)),
      ])
      return type === 'none' || values.includes(null) ? [] : [keyFacts(key, String(type), asked, values)]
    }),
  )
  return found.flat()
}

function keyFacts(key: Buffer, type: string, asked: readonly Fact[], values: readonly Reply[]): KeyFacts {
  const seen: WritableFacts = { key, name: decodeKey(key), type }
  for (const [index, fact] of asked.entries()) {
    const value = values[index]!
    if (fact === 'encoding') seen.encoding = String(value)
    else {
      const number = decodeReply(integerReply, value, seen.name)
      if (fact === 'ttl') seen.ttlMs = ttlOf(number)
      else if (fact === 'memory') seen.bytes = number
      else seen.idleMs = idleOf(number)
    }
  }
  return seen
}

/** `KeyFacts` while they are put together. */
export type WritableFacts = { -readonly [K in keyof KeyFacts]: KeyFacts[K] }

/** The TTL in what PTTL says of a key that is there. */
export function ttlOf(ms: number): number | 'forever' {
  return ms < 0 ? 'forever' : ms
}

/** The idle time in what OBJECT IDLETIME says; below zero where the server does not know. */
export function idleOf(seconds: number): number | undefined {
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

const SECOND: Shape = { firstKey: 2, keyCount: 1 }
