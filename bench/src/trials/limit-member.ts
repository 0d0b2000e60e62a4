import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { sharedMs } from '../clock.ts'
import type { Address } from '../job.ts'
import type { Member } from '../member.ts'
import { limiterPeers, type LimitOptions, ownLimiters } from '../peers/limiters.ts'

/** Which limiter, where, and how it is set. */
export interface HammerOptions extends LimitOptions {
  readonly contender: string
  readonly server: Address
  /** How many decisions are under way at once. */
  readonly inFlight: number
  /** How far the clock of this process is ahead, for what does not ask `Date`. */
  readonly clockAheadMs: number
}

/** When one that was admitted had been asked and was answered, in ms of the clock that all share. */
export type Admission = readonly [askedAt: number, answeredAt: number]

/**
 * One process that hammers a limiter. `burst`: as many decisions as its limit, at once. `edge`: one, then a pause until
 * the window is nearly over, then as many as it can until the next window is nearly over too.
 */
export const member: Member<HammerOptions, readonly Admission[]> = async (options) => {
  const { contender, server, limit, perS, inFlight, clockAheadMs } = options
  setMicrotimeAhead(clockAheadMs)
  const { take, admitted } = await { ...ownLimiters, ...limiterPeers }[contender]!.open(server, options)

  const admissions: Admission[] = []
  const ask = async (id: string) => {
    const askedAt = sharedMs()
    const answer = await take(id).catch((refusal: unknown) => refusal)
    if (admitted(answer)) admissions.push([askedAt, sharedMs()])
  }
  const many = (id: string, more: () => boolean) =>
    Promise.all(
      Array.from({ length: inFlight }, async () => {
        while (more()) await ask(id)
      }),
    )

  // Loads the script and compiles, on a key of its own.
  await ask('warm')
  return async (word) => {
    admissions.length = 0
    if (word === 'burst') {
      let left = limit
      await many(word, () => left-- > 0)
    } else {
      const began = sharedMs()
      await ask(word)
      await sleep(perS * 800)
      await many(word, () => sharedMs() < began + perS * 1900)
    }
    return admissions
  }
}

/** Two peers read the time of day from a native module, past `Date`. */
function setMicrotimeAhead(byMs: number): void {
  if (byMs === 0) return
  const microtime = createRequire(import.meta.url)('microtime') as { now: () => number }
  const real = microtime.now.bind(microtime)
  microtime.now = () => real() + byMs * 1000
}
