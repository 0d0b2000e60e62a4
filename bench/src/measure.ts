import type { Case, Job } from './job.ts'
import { type ContenderProcess, startContender } from './contender-process.ts'
import type { BenchServer } from './server.ts'
import { type Place, put, unpin } from './pin.ts'

/** One round of one contender in one case, with what it cost the server. */
export interface Measured {
  readonly contender: string
  readonly case: string
  /** On how many cores; absent where the system chose, and in what was kept before there were two: that was on one. */
  readonly cores?: 1 | 2 | undefined
  /** Items a second. */
  readonly perSecond: number
  readonly clientMicros: number
  readonly serverMicros: number
  readonly commands: number
  readonly p50Micros: number
  readonly p99Micros: number
}

/** How a run goes. */
export interface RunOptions {
  readonly rounds: number
  readonly roundMs: number
  /** `WARM_ROUNDS`, or fewer. */
  readonly warmRounds: number
  /** Each case is measured in the first, and then in the others, where fewer rounds do. */
  readonly places: readonly [Place, ...Place[]]
  readonly log: (line: string) => void
}

/** How many rounds a contender may take at the most until it is as quick as it gets. */
export const WARM_ROUNDS = 10
const WARM_MS = 1_000
// By how much a round must beat all before it to count as quicker, and how many in turn must not.
const QUICKER = 1.05
const STEADY = 2
// Of a round, before it. Who waited for the others' turns finds the caches theirs, and some of its memory gone.
const LEAD = 0.3

/**
 * Measures a job: all contenders are started, then take turns, case by case and round by round in another order each
 * time, so that what else happens on the machine meets them all. Each contender has a server of its own that is
 * otherwise idle, since one shared server would hold the keys of them all.
 */
export async function measure(
  job: Job,
  startServer: () => Promise<BenchServer>,
  { rounds, roundMs, warmRounds, places, log }: RunOptions,
): Promise<Measured[]> {
  const started: { name: string; server: BenchServer; process: ContenderProcess }[] = []
  const results: Measured[] = []
  try {
    for (const name of Object.keys(job.contenders)) {
      const server = await startServer()
      const process = await startContender(job.name, name, server.address, places[0].client)
      started.push({ name, server, process })
    }
    for (const each of job.cases) {
      const able = started.filter(({ process }) => process.acts.includes(each.act))
      for (const { process } of able) await warm(each, process, warmRounds)
      for (const place of places) {
        for (const { server, process } of able) put(server, process, place)
        const isFirst = place === places[0]
        for (let turn = 0; turn < (isFirst ? rounds : fewer(rounds)); turn += 1) {
          const order = able.map((_, index) => able[(index + turn) % able.length]!)
          for (const { name, server, process } of turn % 2 === 0 ? order : order.toReversed())
            results.push(await measured(name, each, place, server, process, roundMs))
        }
      }
      log(`${job.name}: ${each.name}`)
    }
  } finally {
    for (const { server, process } of started) {
      await process.close().catch(() => {})
      await server.stop()
    }
  }
  return results
}

/**
 * The first calls fill what is empty, and are slow until they are compiled, which takes a process that shares one core with its
 * compiler and the server some eight seconds. So it has all cores until it gets no quicker, as a program that runs for hours is.
 */
export async function warm({ act, inFlight }: Case, process: ContenderProcess, most: number): Promise<void> {
  unpin(process.pid)
  let quickest = 0
  for (let round = 0, steady = 0; round < most && steady < STEADY; round += 1) {
    const { perSecond } = await process.round(act, inFlight, WARM_MS)
    steady = perSecond > quickest * QUICKER ? 0 : steady + 1
    quickest = Math.max(quickest, perSecond)
  }
}

/** Half of them, but as many as a middle needs. */
function fewer(rounds: number): number {
  return Math.min(rounds, Math.max(3, Math.floor(rounds / 2)))
}

async function measured(
  contender: string,
  { name, act, inFlight, items = 1 }: Case,
  { cores }: Place,
  server: BenchServer,
  process: ContenderProcess,
  roundMs: number,
): Promise<Measured> {
  await process.round(act, inFlight, roundMs * LEAD)
  const before = await server.spent()
  const { perSecond, clientMicros, p50Micros, p99Micros, operations } = await process.round(
    act,
    inFlight,
    roundMs,
  )
  const after = await server.spent()
  const done = operations * items
  return {
    contender,
    case: name,
    cores,
    perSecond: perSecond * items,
    clientMicros: clientMicros / items,
    serverMicros: (after.cpuMicros - before.cpuMicros) / done,
    commands: (after.commands - before.commands) / done,
    p50Micros,
    p99Micros,
  }
}
