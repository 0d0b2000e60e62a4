import { isUnavailable } from 'keyspec'
import { QuotaExhaustedError } from '../admission.ts'
import { recordOf } from '../processing/docket-record.ts'
import { DamagedRecordError, type Output } from '../processing/output.ts'
import type { Courtlistener } from '../schema.ts'
import { failuresIn } from '../state/failures.ts'
import { runState } from '../state/run-state.ts'
import { taskTiming } from '../state/task-timing.ts'
import type { CourtListener } from '../upstream/courtlistener.ts'
import { UpstreamError } from '@keyspec-systems/program/upstream'
import type { Backlog } from './backlog.ts'

/** What became of a docket: stored now, stored before, put on the list of failures, or not tried as the quota is used up or the run ends. */
export type DocketOutcome =
  | { readonly outcome: 'fetched'; readonly ms: number }
  | { readonly outcome: 'present' | 'postponed' }
  | { readonly outcome: 'failed'; readonly error: string }

/** What a docket's task works with. */
export interface Workplace {
  readonly keys: Courtlistener
  readonly dagRunId: string
  readonly api: CourtListener
  readonly output: Output
  readonly backlog: Backlog
  readonly signal?: AbortSignal
}

/** Fetches one docket, unless it is stored already, and stores it; tells Redis, or will when that is back. */
export async function docketTask(workplace: Workplace, docketId: string): Promise<DocketOutcome> {
  const { backlog } = workplace
  try {
    const ms = await fetchDocket(workplace, docketId)
    return ms === undefined ? { outcome: 'present' } : { outcome: 'fetched', ms }
  } catch (error) {
    if (error instanceof QuotaExhaustedError || workplace.signal?.aborted === true)
      return { outcome: 'postponed' }
    if (!(error instanceof UpstreamError) || error.reason === 'credentials') throw error
    const at = new Date()
    await backlog.tell(async () => {
      const { keys } = workplace
      await failuresIn(keys, () => at).record(await presentHour(keys), docketId, error.message)
    })
    return { outcome: 'failed', error: error.message }
  }
}

/** The same for a docket that has failed: what fails again stays on the list, and the error is the caller's. */
export async function fetchDocket(workplace: Workplace, docketId: string): Promise<number | undefined> {
  const { keys, dagRunId, api, output, backlog, signal } = workplace
  const state = runState(keys, dagRunId)
  if (await isStored(output, docketId)) {
    await backlog.tell(() => state.finish(docketId))
    return undefined
  }
  const timing = taskTiming(keys, dagRunId)
  const taskId = `process_docket_${docketId}`
  const start = new Date()
  await backlog.tell(() => timing.start(taskId, start))
  const docket = await api.docket(docketId, signal)
  await output.write(recordOf(docket))
  const end = new Date()
  await backlog.tell(() => Promise.all([state.finish(docketId), timing.end(taskId, end)]))
  return end.getTime() - start.getTime()
}

/** The hour that the server's clock says; this machine's while it cannot be asked. */
async function presentHour(keys: Courtlistener): Promise<Date> {
  return keys
    .calls()
    .peek()
    .then(
      ({ window }) => window,
      (error: unknown) => {
        if (isUnavailable(error)) return new Date()
        throw error
      },
    )
}

async function isStored(output: Output, docketId: string): Promise<boolean> {
  try {
    return (await output.read(docketId)) !== undefined
  } catch (error) {
    // It is fetched again, and written over.
    if (error instanceof DamagedRecordError) return false
    throw error
  }
}
