import type { Case, Job } from '../job.ts'
import { type ContenderProcess, startContender } from '../contender-process.ts'
import { warm, WARM_ROUNDS } from '../measure.ts'
import { put } from '../pin.ts'
import type { BenchServer } from '../server.ts'
import { type TimeSpent, timeSpent } from './time-spent.ts'
import type { Wanted } from './wanted.ts'

/** Where the time went, on both sides of the wire, while one contender did one case. */
export interface Profiled extends TimeSpent {
  readonly contender: string
  readonly case: string
  readonly cores?: 1 | 2 | undefined
  /** What the server ran, those that took it longest first; the time of a script holds that of its commands. */
  readonly commands: readonly Command[]
}

/** A command of the server, as INFO commandstats counts it. */
export interface Command {
  readonly name: string
  /** How often it ran for one item. */
  readonly calls: number
  /** The µs of one call. */
  readonly micros: number
}

/** One round of each under the profiler, every one with a process and a server of its own. */
export async function profile(
  job: Job,
  wanted: readonly Wanted[],
  startServer: () => Promise<BenchServer>,
  { roundMs, log }: { readonly roundMs: number; readonly log: (line: string) => void },
): Promise<Profiled[]> {
  const results: Profiled[] = []
  for (const { contender, case: name, place } of wanted) {
    const each = job.cases.find((candidate) => candidate.name === name)!
    const server = await startServer()
    let process: ContenderProcess | undefined
    try {
      process = await startContender(job.name, contender, server.address, place.client)
      await warm(each, process, WARM_ROUNDS)
      put(server, process, place)
      const spent = await profileOf(each, process, server, roundMs)
      results.push({ contender, case: name, cores: place.cores, ...spent })
    } finally {
      await process?.close().catch(() => {})
      await server.stop()
    }
    log(`${job.name}: profile of ${contender}, ${name}`)
  }
  return results
}

async function profileOf(
  each: Case,
  process: ContenderProcess,
  server: BenchServer,
  roundMs: number,
): Promise<TimeSpent & Pick<Profiled, 'commands'>> {
  await server.command('CONFIG', 'RESETSTAT')
  const { result, profile } = await process.profile(each.act, each.inFlight, roundMs)
  const info = String(await server.command('INFO', 'commandstats'))
  return { ...timeSpent(profile), commands: commandsOf(info, each, result.operations) }
}

function commandsOf(info: string, { items = 1 }: Case, operations: number): Command[] {
  return [...info.matchAll(/^cmdstat_([^:]+):calls=(\d+),usec=(\d+),usec_per_call=([\d.]+)/gm)]
    .filter(([, name]) => name !== 'info' && name !== 'config|resetstat')
    .toSorted(([, , , a], [, , , b]) => Number(b) - Number(a))
    .map(([, name, calls, , micros]) => ({
      name: name!,
      calls: Number(calls) / (operations * items),
      micros: Number(micros),
    }))
}
