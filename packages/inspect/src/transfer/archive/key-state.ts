import type { Connection } from 'keyspec'
import { arrayReply, int, integerReply, nodeCrypto, script, textReply, tupleReply } from 'keyspec/extend'
import type { ArchiveRecord } from './archive.ts'
import { decodeDump } from '../../rdb/decode-dump.ts'
import { asArguments } from './dump.ts'
import * as lua from './lua.gen.ts'

/** What is there at a key, without its value. */
export interface KeyState {
  readonly type: string
  readonly ttlMs: number | 'forever'
  /** Equal only where the values are; where it differs, one value may stand in two encodings. */
  readonly digest: string
}

/** What is there at these keys; `undefined` where nothing is. */
export async function statesOf(
  connection: Connection,
  keys: readonly Buffer[],
): Promise<(KeyState | undefined)[]> {
  const ask = (some: readonly Buffer[]) =>
    digestScript.run(connection, { keys: asArguments(some) }, { budget: BUDGET })
  // On a cluster each key is asked for by itself, since it may be of another slot.
  if (connection.cluster) return (await Promise.all(keys.map((key) => ask([key])))).flat()
  const states: (KeyState | undefined)[] = []
  while (states.length < keys.length) states.push(...(await ask(keys.slice(states.length))))
  return states
}

/** What a server would say of a key of an export; `undefined` where it has expired. */
export function stateIn(record: ArchiveRecord, nowMs: number): KeyState | undefined {
  const { type, expiresAtMs, dump } = record
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) return undefined
  const value = type === 'string' ? decodeDump(dump) : undefined
  const digested = value?.type === 'string' ? value.value : dump.subarray(0, -10)
  return {
    type,
    ttlMs: expiresAtMs === undefined ? 'forever' : expiresAtMs - nowMs,
    digest: nodeCrypto().createHash('sha1').update(digested).digest('hex'),
  }
}

// As much as is read at once, so that the server is not kept for long.
const BUDGET = 1024 * 1024

const state = tupleReply(textReply, integerReply, textReply)

const digestScript = script('inspect/digest', {
  keys: ['keys*'],
  args: { budget: int },
  lua: lua.digest,
  commands: ['DUMP', 'GET', 'PTTL', 'TYPE'],
  reply: (reply) => {
    const answers = arrayReply(reply)
    return Array.from({ length: answers.length / 3 }, (_, index): KeyState | undefined => {
      const [type, left, digest] = state(answers.slice(index * 3))
      return type === '' ? undefined : { type, ttlMs: left < 0 ? 'forever' : left, digest }
    })
  },
})
