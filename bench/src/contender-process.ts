import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { ask } from './ask.ts'
import type { Address } from './job.ts'
import { pin } from './pin.ts'
import type { Sampled } from './profile/sampled.ts'
import type { Round } from './round.ts'
import type { Ask } from './worker.ts'

/** A contender in a process of its own, so that no library's garbage or hidden classes are another's cost. */
export interface ContenderProcess {
  readonly pid: number
  readonly acts: readonly string[]
  round(act: string, inFlight: number, forMs: number): Promise<Round>
  /** A round under the CPU profiler, which slows it. */
  profile(act: string, inFlight: number, forMs: number): Promise<Sampled<Round>>
  close(): Promise<void>
}

/** Starts a contender on one core, or on any where `core` is absent. */
export async function startContender(
  job: string,
  contender: string,
  server: Address,
  core: number | undefined,
): Promise<ContenderProcess> {
  const child = fork(fileURLToPath(new URL('./worker.js', import.meta.url)), [], {
    execArgv: ['--no-warnings'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  if (core !== undefined) pin(child.pid!, core)
  const acts = (await ask(child, { open: { job, contender, server } } satisfies Ask)) as string[]
  return {
    pid: child.pid!,
    acts,
    round: async (act, inFlight, forMs) =>
      (await ask(child, { round: { act, inFlight, forMs } } satisfies Ask)) as Round,
    profile: async (act, inFlight, forMs) =>
      (await ask(child, { profile: { act, inFlight, forMs } } satisfies Ask)) as Sampled<Round>,
    async close() {
      await ask(child, { close: true } satisfies Ask)
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}
