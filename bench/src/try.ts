import { Crowd, type MemberOptions } from './crowd.ts'
import { figuresLine } from './report/trial-markdown.ts'
import type { BenchServer } from './server.ts'
import type { Tried, Trial } from './trial.ts'

/** How a trial goes. */
export interface TryOptions {
  readonly rounds: number
  readonly quick: boolean
  readonly huge: boolean
  readonly core: number | undefined
  readonly startServer: () => Promise<BenchServer>
  readonly log: (line: string) => void
}

/** Makes every run of a trial: the contenders take turns, round by round, in another order each time. */
export async function tryAll(
  trial: Trial,
  { rounds, quick, huge, core, startServer, log }: TryOptions,
): Promise<Tried[]> {
  const results: Tried[] = []
  for (const name of (quick ? trial.quick : huge ? trial.huge : undefined) ?? trial.cases) {
    const contenders = Object.entries(trial.contenders)
    for (let turn = 0; turn < Math.min(rounds, trial.rounds ?? rounds); turn += 1) {
      const order = contenders.map((_, index) => contenders[(index + turn) % contenders.length]!)
      for (const [contender, { label, run }] of turn % 2 === 0 ? order : order.toReversed()) {
        const figures = await alone(startServer, (own) => run(name, { core, quick, ...own }))
        if (figures === undefined) continue
        results.push({ contender, case: name, figures })
        // A turn may take minutes: whoever must stop it knows what it came to so far.
        log(`${trial.name}: ${name}: ${label}: ${figuresLine(trial, figures)}`)
      }
    }
  }
  return results
}

/** Ends whatever a run has started. */
async function alone<T>(
  startServer: () => Promise<BenchServer>,
  run: (own: { server(): Promise<BenchServer>; crowd: typeof Crowd.gather }) => Promise<T>,
): Promise<T> {
  const servers: BenchServer[] = []
  const crowds: Crowd<unknown>[] = []
  try {
    return await run({
      async server() {
        const server = await startServer()
        servers.push(server)
        return server
      },
      async crowd<G, R>(members: readonly MemberOptions<G>[]) {
        const crowd = await Crowd.gather<G, R>(members)
        crowds.push(crowd)
        return crowd
      },
    })
  } finally {
    for (const crowd of crowds) crowd.end()
    for (const server of servers) await server.stop()
  }
}
