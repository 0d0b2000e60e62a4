import { setTimeout as sleep } from 'node:timers/promises'
import { limiterPeers, ownLimiters } from '../peers/limiters.ts'
import type { Trial, TrialContext, Trier } from '../trial.ts'
import type { Admission, HammerOptions } from './limit-member.ts'

const PROCESSES = 4
const LIMIT = 500
const PER_S = 60
const AHEAD_MS = 60_000
const EDGE = { limit: 100, perS: 2 }

const SAME = `${PROCESSES} processes`
const AHEAD = `${PROCESSES} processes, one clock 60 s ahead`
const ROLLING = 'over the edge of a window'

const exactly = { figure: 'admitted', atLeast: LIMIT, atMost: LIMIT, always: true } as const
const rolling = { case: ROLLING, figure: 'times', always: true } as const

/** How many a limiter admits that several processes hammer. */
export const limits: Trial = {
  name: 'limits',
  about:
    `${PROCESSES} processes ask for ${LIMIT} decisions each, at one instant, of one key with a limit of ${LIMIT} a minute. ` +
    `Over the edge of a window: as many as they can get from shortly before its end until shortly before that of the next, ` +
    `with a limit of ${EDGE.limit} in ${EDGE.perS} s; counted are the most that were certainly admitted within any span of ` +
    `that length (asked after its beginning, answered before its end). A fixed window may admit twice its limit there.`,
  figures: {
    admitted: { label: `admitted of ${LIMIT}` },
    times: { label: 'most in any window, of the limit' },
  },
  cases: [SAME, AHEAD, ROLLING],
  rounds: 3,
  contenders: Object.fromEntries(
    Object.entries({ ...ownLimiters, ...limiterPeers }).map(([name, { label }]) => [
      name,
      { label, run: hammeredBy(name) },
    ]),
  ),
  targets: [
    ...Object.keys(ownLimiters).flatMap((ours) => [
      { ...exactly, case: SAME, ours },
      { ...exactly, case: AHEAD, ours },
    ]),
    { ...rolling, ours: 'keyspec exact', atMost: 1 },
    { ...rolling, ours: 'keyspec compact', atMost: 1.15 },
  ],
}

function hammeredBy(contender: string): Trier['run'] {
  return async (name, context) => {
    if (name === ROLLING) {
      const admissions = await hammer(contender, context, { ...EDGE, inFlight: 10 }, 0)
      return { times: mostWithin(EDGE.perS * 1000, admissions) / EDGE.limit }
    }
    await untilEarlyInAMinute()
    const options = { limit: LIMIT, perS: PER_S, inFlight: 50 }
    const admissions = await hammer(contender, context, options, name === AHEAD ? AHEAD_MS : 0)
    return { admitted: admissions.length }
  }
}

async function hammer(
  contender: string,
  { server, crowd }: TrialContext,
  options: { readonly limit: number; readonly perS: number; readonly inFlight: number },
  aheadMs: number,
): Promise<Admission[]> {
  const { address } = await server()
  const hammers = await crowd<HammerOptions, readonly Admission[]>(
    Array.from({ length: PROCESSES }, (_, index) => {
      const clockAheadMs = index === 0 ? aheadMs : 0
      const given = { ...options, contender, server: address, clockAheadMs }
      return { module: ['./limit-member.js', import.meta.url] as const, given, clockAheadMs }
    }),
  )
  return (await hammers.go(options.perS === PER_S ? 'burst' : 'edge')).flat()
}

/** Some count by the minute of the clock: a run that crosses it would see two of their windows. */
async function untilEarlyInAMinute(): Promise<void> {
  const intoMs = Date.now() % 60_000
  if (intoMs > 40_000) await sleep(60_500 - intoMs)
}

function mostWithin(spanMs: number, admissions: readonly Admission[]): number {
  return Math.max(
    0,
    ...admissions.map(
      ([from]) => admissions.filter(([asked, answered]) => asked >= from && answered < from + spanMs).length,
    ),
  )
}
