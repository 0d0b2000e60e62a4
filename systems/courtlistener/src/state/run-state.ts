import { param } from 'keyspec'
import type { Courtlistener, RunFields, RunInputs } from '../schema.ts'
import { readable } from './readable.ts'
import { hasEnded, mayFollow, type RunStatus } from './run-status.ts'

/** What may be written of it by `update`: the status goes by `move`. */
export type RunChanges = Omit<RunInputs, 'status' | 'last_updated'>

/** What became of a change of status. */
export type Moved =
  | { readonly moved: true; readonly state: RunFields }
  | { readonly moved: false; readonly from: RunStatus | undefined }

/** The state of one run, as any number of processes see and change it. */
export interface RunState {
  /** Makes the state where it is absent, or whatever of it is; answers all of it. */
  initialise(): Promise<RunFields>
  /** The whole state, or `undefined` where there is no such run. */
  get(): Promise<RunFields | undefined>
  /** Writes fields, renews the time to live and answers the whole state, in one step. */
  update(changes: RunChanges): Promise<RunFields>
  /** Goes on to a status, with other fields in the same step, if it may follow the one that stands. */
  move(to: RunStatus, changes?: RunChanges): Promise<Moved>
  /** Dockets are stored: costs the same however many there were before. */
  finish(...docketIds: readonly string[]): Promise<void>
  /** All dockets that the run has processed, be it told by us or by another program. */
  processed(): Promise<string[]>
  /**
   * Writes `dockets_processed` if it has doubled since, or `always`. So a run of n dockets writes fewer than 2n ids in
   * all. Only one process of a run may do this.
   */
  publish(options?: { readonly always?: boolean }): Promise<boolean>
}

const FIRST_PUBLISHED = 16

/** The state of the run with this id. */
export function runState(
  keys: Courtlistener,
  dagRunId: string,
  now: () => Date = () => new Date(),
): RunState {
  const run = keys.run({ dagRunId })
  const finished = keys.finished({ dagRunId })
  let published = 0

  const processed = async () => {
    const [told, stored] = await Promise.all([
      readable(run.getField('dockets_processed')),
      finished.members(),
    ])
    return [...new Set([...(told ?? []), ...stored])]
  }

  return {
    async initialise() {
      const at = now()
      const { calls } = keys
      const [counterKey = '', fallbackKey = ''] = calls().namesAt(at)
      const first = {
        status: 'initialized',
        dag_run_id: dagRunId,
        start_time: at,
        current_hour: param.hour.encode(at),
        api_calls_this_hour: 0,
        dockets_processed: [],
        redis_keys: {
          state_key: run.name,
          counter_key: counterKey,
          fallback_key: fallbackKey,
          failed_key: keys.failed({ hour: at }).name,
        },
      } as const
      // Each by itself, so that a run that another process has begun, or half begun, keeps what it has.
      await Promise.all(
        Object.entries(first).map(([field, value]) =>
          run.setIfAbsent(field as 'status', value as 'initialized'),
        ),
      )
      return run.update({ last_updated: at })
    },
    get: () => run.get(),
    update: (changes) => run.update({ ...changes, last_updated: now() }),
    async move(to, changes = {}) {
      for (;;) {
        const from = await run.getField('status')
        if (from === undefined || !mayFollow(from, to)) return { moved: false, from }
        // Once it has ended there is nobody who would publish what is missing.
        const dockets = hasEnded(to) ? { dockets_processed: await processed() } : {}
        const state = await run.updateIf(
          { status: from },
          { ...dockets, ...changes, status: to, last_updated: now() },
        )
        // Nothing: another process has moved it since it was read.
        if (state !== undefined) return { moved: true, state }
      }
    },
    async finish(...docketIds) {
      if (docketIds.length > 0) await finished.add(...docketIds)
    },
    processed,
    async publish({ always = false } = {}) {
      const size = await finished.size()
      if (!always && size < Math.max(FIRST_PUBLISHED, 2 * published)) return false
      await run.update({ dockets_processed: await processed(), last_updated: now() })
      published = size
      return true
    },
  }
}

/** The newest run that has not ended, to go on with. One whose status is none that we know is left as it is, and told. */
export async function unfinishedRun(
  keys: Courtlistener,
  log: (line: string) => void = () => {},
): Promise<string | undefined> {
  let newest: { readonly id: string; readonly start: number } | undefined
  for await (const { params, key } of keys.run.scan()) {
    const status = await readable(key.getField('status'))
    if (status === undefined) log(`${key.name} is left as it is: its status is none that this program knows`)
    if (status === undefined || hasEnded(status)) continue
    const start = (await readable(key.getField('start_time')))?.getTime() ?? 0
    if (newest === undefined || start > newest.start) newest = { id: params.dagRunId, start }
  }
  return newest?.id
}
