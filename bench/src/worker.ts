import type { Address } from './job.ts'
import { jobNamed } from './jobs.ts'
import { sampled } from './profile/sampled.ts'
import { round } from './round.ts'

/** What the process of one contender is asked. */
export type Ask =
  | { readonly open: { readonly job: string; readonly contender: string; readonly server: Address } }
  | { readonly round: { readonly act: string; readonly inFlight: number; readonly forMs: number } }
  | { readonly profile: { readonly act: string; readonly inFlight: number; readonly forMs: number } }
  | { readonly close: true }

let acts: Awaited<ReturnType<Awaited<ReturnType<typeof jobNamed>>['contenders'][string]['open']>> | undefined

process.on('message', (ask: Ask) => {
  answer(ask).then(
    (done) => process.send!({ done }),
    (error: unknown) =>
      process.send!({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})

async function answer(ask: Ask): Promise<unknown> {
  if ('open' in ask) {
    const job = await jobNamed(ask.open.job)
    acts = await job.contenders[ask.open.contender]!.open(ask.open.server)
    return Object.keys(acts.acts)
  }
  if ('round' in ask) {
    const { act, inFlight, forMs } = ask.round
    return round(acts!.acts[act]!, inFlight, forMs)
  }
  if ('profile' in ask) {
    const { act, inFlight, forMs } = ask.profile
    return sampled(() => round(acts!.acts[act]!, inFlight, forMs))
  }
  await acts?.close()
  // What a library left open must not keep this process.
  setImmediate(() => process.exit(0))
  return true
}
