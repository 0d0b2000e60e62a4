import type { Connection } from '../connection/connection.ts'
import { int, serverNow, text } from '../script/argument.ts'
import { integerReply, listReply } from '../connection/reply.ts'
import { script } from '../script/script.ts'
import type { Phase } from './kind.ts'
import * as lua from './lua.gen.ts'
import { wrongPhase } from './renaming-error.ts'

/** Behind the prefix of the keyspace: the sorted set of the phases in use, `<phase> <pattern>` by the last use. */
export const REGISTER = 'keyspec:phases'

/** How long a phase counts as in use after a program last said so. */
const LEASE_MS = 60_000

const RENEW_MS = 20_000

const announce = script('kind/announce', {
  keys: ['register'],
  args: { pattern: text, phase: int, leaseMs: int, now: serverNow },
  lua: lua.announce,
  commands: ['PEXPIRE', 'ZADD', 'ZREMRANGEBYSCORE', 'ZSCORE'],
  reply: integerReply,
})

/** What a program says on the server about the phase of one rename. */
export interface Announcement {
  /** Resolves when the program may use the keys; `undefined` if it said so a moment ago. Rejects with a `PhaseError`. */
  renewal(): Promise<void> | undefined
}

/**
 * Says on the server that this program uses a pattern at its phase: before its first command, and every 20 s while it sends
 * any. A program that was idle, or stopped, for longer says so again before its next command.
 */
export function announcement(
  connection: Connection,
  prefix: string,
  pattern: string,
  phase: Phase,
): Announcement {
  let saidAt = -Infinity
  let saying: Promise<void> | undefined
  const say = async () => {
    const askedAt = performance.now()
    try {
      const register = prefix + REGISTER
      const other = await announce.run(connection, { register }, { pattern, phase, leaseMs: LEASE_MS })
      if (other !== 0) throw wrongPhase(pattern, phase, other)
      saidAt = askedAt
    } finally {
      saying = undefined
    }
  }
  return {
    renewal: () => (performance.now() - saidAt < RENEW_MS ? undefined : (saying ??= say())),
  }
}

/** A phase of a rename that a program used within the last minute. */
export interface PhaseInUse {
  readonly phase: Phase
  readonly agoMs: number
}

const seen = script('kind/phases', {
  keys: ['register'],
  args: { pattern: text, now: serverNow },
  lua: lua.phases,
  commands: ['ZSCORE'],
  reply: listReply(integerReply),
})

/** The phases of a pattern that programs used within the last minute. */
export async function phasesInUse(
  connection: Connection,
  prefix: string,
  pattern: string,
): Promise<readonly PhaseInUse[]> {
  const ago = await seen.run(connection, { register: prefix + REGISTER }, { pattern })
  return ([1, 2, 3] as const).flatMap((phase) => {
    const agoMs = ago[phase - 1]!
    return agoMs >= 0 && agoMs < LEASE_MS ? [{ phase, agoMs }] : []
  })
}
