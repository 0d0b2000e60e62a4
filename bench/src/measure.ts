import type { Case, Job } from './job.ts'
import { type ContenderProcess, startContender } from './contender-process.ts'
import type { BenchServer } from './server.ts'
import { pin } from './pin.ts'

/** One round of one contender in one case, with what it cost the server. */
export interface Measured {
  readonly contender: string
  readonly case: string
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
  /** Client and server on this one core; without it, wherever the system puts them. */
  readonly core: number | undefined
  readonly log: (line: string) => void
}

const WARM_MS = 1_500

/**
 * Measures a job: all contenders are started, then take turns, case by case and round by round in another order each
 * time, so that what else happens on the machine meets them all. Each contender has a server of its own that is
 * otherwise idle, since one shared server would hold the keys of them all.
 */
export async function measure(
  job: Job,
  startServer: () => Promise<BenchServer>,
  { rounds, roundMs, core, log }: RunOptions,
): Promise<Measured[]> {
  const started: { name: string; server: BenchServer; process: ContenderProcess }[] = []
  const results: Measured[] = []
  try {
    for (const name of Object.keys(job.contenders)) {
      const server = await startServer()
      if (core !== undefined) pin(server.pid, core)
      started.push({ name, server, process: await startContender(job.name, name, server.address, core) })
    }
    for (const each of job.cases) {
      const able = started.filter(({ process }) => process.acts.includes(each.act))
      // The first calls fill what is empty, and are slow until they are compiled, which takes thousands of them.
      for (const { process } of able) await process.round(each.act, each.inFlight, Math.max(WARM_MS, roundMs))
      for (let turn = 0; turn < rounds; turn += 1) {
        const order = able.map((_, index) => able[(index + turn) % able.length]!)
        for (const { name, server, process } of turn % 2 === 0 ? order : order.toReversed())
          results.push(await measured(name, each, server, process, roundMs))
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

async function measured(
  contender: string,
  { name, act, inFlight, items = 1 }: Case,
  server: BenchServer,
  process: ContenderProcess,
  roundMs: number,
): Promise<Measured> {
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
    perSecond: perSecond * items,
    clientMicros: clientMicros / items,
    serverMicros: (after.cpuMicros - before.cpuMicros) / done,
    commands: (after.commands - before.commands) / done,
    p50Micros,
    p99Micros,
  }
}
