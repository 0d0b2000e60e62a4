import { setTimeout as wait } from 'node:timers/promises'
import { isUnavailable, param } from 'keyspec'
import { admission, QuotaExhaustedError } from './admission.ts'
import type { ConnectionMetrics } from './health.ts'
import { type Opened, openCourtlistener } from './keyspace.ts'
import { openOutput, type Output } from './processing/output.ts'
import { defaults, environmentOf, type Settings } from './settings.ts'
import { failuresIn } from './state/failures.ts'
import { runState, unfinishedRun } from './state/run-state.ts'
import { hasEnded, type RunStatus } from './state/run-status.ts'
import { percentile, type TaskTimes, taskTiming } from './state/task-timing.ts'
import { openCourtListener } from './upstream/courtlistener.ts'
import type { FromWorker } from './worker/message.ts'
import { WorkerProcess } from './worker/worker-process.ts'

/** One run: which dockets, from where, and to where. */
export interface RunOptions {
  /** `redis://…` or `unix:///path`. */
  readonly redisUrl: string
  /** Stands before every key: where the schema is mounted in a larger one, its prefix there. */
  readonly prefix?: string
  readonly settings?: Settings
  readonly token: string
  /** The API's base URL; the real one's unless told. */
  readonly baseUrl?: string
  /** Where the dockets are stored, a file each. */
  readonly folder: string
  /** How many dockets at most; all unless told. */
  readonly dockets?: number
  /** The run to make or to go on with; else the newest that has not ended, or a new one. */
  readonly dagRunId?: string
  /** How long to wait where the quota is used up; a longer wait leaves the run as it is, to be gone on with. */
  readonly maxWaitMs?: number
  readonly log?: (line: string) => void
  readonly onProgress?: (progress: RunProgress) => void
  readonly signal?: AbortSignal
  /** More of the environment for the workers. */
  readonly env?: Readonly<Record<string, string>>
}

/** How far a run has come. */
export interface RunProgress {
  readonly dagRunId: string
  readonly listed: number
  /** Stored by this run or an earlier one. */
  readonly stored: number
  readonly failed: number
  readonly admitted: number
  readonly rejected: number
}

/** What a run did. */
export interface RunReport extends RunProgress {
  /** `processing` where the quota was used up, or it was stopped: the next run goes on with it. */
  readonly status: RunStatus
  readonly fetched: number
  /** Dockets that succeeded in their retry. */
  readonly recovered: number
  /** Listed, but neither stored nor failed. */
  readonly left: number
  readonly medianMs: number
  readonly p99Ms: number
  readonly tasks: readonly TaskTimes[]
  readonly metrics: ConnectionMetrics
}

/** Lists dockets and has workers, each a process, fetch those that are not stored yet. */
export async function run(options: RunOptions): Promise<RunReport> {
  const { redisUrl, prefix = '', settings = defaults, log = () => {}, signal } = options
  const opened = openCourtlistener({ url: redisUrl, prefix, settings, log })
  const workers: WorkerProcess[] = []
  const stop = () => workers.forEach((worker) => worker.stop())
  signal?.addEventListener('abort', stop, { once: true })
  try {
    await opened.ready(signal)
    return await new Run(options, opened, workers).report()
  } finally {
    signal?.removeEventListener('abort', stop)
    await Promise.all(workers.map((worker) => worker.end()))
    opened.close()
  }
}

/** A new run's id, as the scheduler of the original makes them. */
function newRunId(at = new Date()): string {
  return `manual_${at.toISOString().slice(0, -1)}+00:00`
}

class Run {
  readonly #options: RunOptions
  readonly #opened: Opened
  readonly #workers: WorkerProcess[]
  readonly #settings: Settings
  readonly #log: (line: string) => void
  readonly #latencies: number[] = []
  readonly #stored = new Set<string>()
  readonly #failed = new Set<string>()
  /** The hours that the run has seen, on whose lists its failures are. */
  readonly #hours = new Set<number>()
  #dagRunId = ''
  #ids: readonly string[] = []
  #fetched = 0
  #recovered = 0
  #ownCalls = { admitted: 0, rejected: 0 }

  constructor(options: RunOptions, opened: Opened, workers: WorkerProcess[]) {
    this.#options = options
    this.#opened = opened
    this.#workers = workers
    this.#settings = options.settings ?? defaults
    this.#log = options.log ?? (() => {})
  }

  async report(): Promise<RunReport> {
    const { keys } = this.#opened
    const { dagRunId = (await unfinishedRun(keys, this.#log)) ?? newRunId() } = this.#options
    this.#dagRunId = dagRunId
    const state = runState(keys, dagRunId)
    const { status = 'initialized' } = await state.initialise()
    if (hasEnded(status)) throw new Error(`${dagRunId} has ended already (${status}): name another run`)
    this.#log(status === 'initialized' ? `run ${dagRunId}` : `run ${dagRunId} goes on, ${status}`)
    if (status === 'initialized') await state.move('running')
    const output = await openOutput(this.#options.folder)
    const timing = taskTiming(keys, dagRunId)
    try {
      await timing.start('list_dockets')
      const isListed = await this.#list()
      const listedAt = new Date()
      await this.#patiently(() => timing.end('list_dockets', listedAt))
      if (isListed) {
        await this.#patiently(() => state.move('processing'))
        await this.#process(output)
      }
    } catch (error) {
      if (this.#options.signal?.aborted !== true) await state.move('failed').catch(() => {})
      throw error
    } finally {
      // Whatever ends the run: what it has stored by now is told whole.
      await state.publish({ always: true }).catch(() => {})
    }
    const { left } = this.#counts()
    await this.#patiently(() => this.#tellCalls())
    if (left === 0) await this.#patiently(() => state.move('completed'))
    const tasks = await timing.report()
    return {
      ...this.#progress(),
      status: (await state.get())?.status ?? 'processing',
      fetched: this.#fetched,
      recovered: this.#recovered,
      left,
      medianMs: percentile(this.#latencies, 0.5),
      p99Ms: percentile(this.#latencies, 0.99),
      tasks,
      metrics: await this.#opened.connectionMetrics(),
    }
  }

  /** Whether all of them could be listed. */
  async #list(): Promise<boolean> {
    const { token, baseUrl, dockets = Infinity, maxWaitMs = Infinity, signal } = this.#options
    const calls = admission(this.#opened.keys.calls(), {
      maxWaitMs,
      log: this.#log,
      ...(signal && { signal }),
    })
    const api = openCourtListener({
      token,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      admit: calls.admit,
    })
    const ids: string[] = []
    try {
      for await (const page of api.dockets({ filter: { order_by: 'id' }, ...(signal && { signal }) })) {
        ids.push(...page.dockets.map(({ id }) => String(id)))
        if (ids.length >= dockets) break
      }
      this.#ids = [...new Set(ids)].slice(0, dockets)
      return true
    } catch (error) {
      if (!(error instanceof QuotaExhaustedError)) throw error
      this.#log(error.message)
      return false
    } finally {
      this.#ownCalls = { admitted: calls.admitted, rejected: calls.rejected }
    }
  }

  async #process(output: Output): Promise<void> {
    const { keys } = this.#opened
    const present = (await output.finished()).docketIds
    await this.#reconcile(present)
    const telling = setInterval(() => void this.#tell().catch(() => {}), 1_000)
    try {
      await this.#start()
      await this.#fetch(this.#ids.filter((id) => !present.has(id)))
      await this.#patiently(() => this.#tellCalls())
      if (this.#failed.size > 0 && this.#options.signal?.aborted !== true) await this.#retry()
    } finally {
      clearInterval(telling)
    }
    await this.#reconcile((await output.finished()).docketIds)
    for (const at of this.#hours) {
      await this.#patiently(() => failuresIn(keys).resolve(new Date(at), this.#stored))
    }
  }

  /** The files are the truth: what was stored but not told, since a worker was killed or Redis away, is told here. */
  async #reconcile(present: ReadonlySet<string>): Promise<void> {
    const here = this.#ids.filter((id) => present.has(id))
    for (const id of here) this.#stored.add(id)
    const state = runState(this.#opened.keys, this.#dagRunId)
    for (let at = 0; at < here.length; at += 500) {
      await this.#patiently(() => state.finish(...here.slice(at, at + 500)))
    }
  }

  /** Waits for Redis, as the state of the run is to be told whole. What is told must bear being done twice. */
  async #patiently<T>(what: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await what()
      } catch (error) {
        if (!isUnavailable(error) || this.#options.signal?.aborted === true) throw error
        await wait(200)
      }
    }
  }

  async #start(): Promise<void> {
    const { redisUrl, prefix = '', token, baseUrl, folder, maxWaitMs, env } = this.#options
    const given = {
      ...environmentOf(this.#settings),
      REDIS_URL: redisUrl,
      REDIS_PREFIX: prefix,
      COURTLISTENER_TOKEN: token,
      ...(baseUrl === undefined ? {} : { COURTLISTENER_BASE_URL: baseUrl }),
      ...(maxWaitMs === undefined || maxWaitMs === Infinity
        ? {}
        : { COURTLISTENER_MAX_WAIT_MS: String(Math.max(1, maxWaitMs)) }),
      DAG_RUN_ID: this.#dagRunId,
      OUTPUT: folder,
      ...env,
    }
    for (let nth = 1; nth <= this.#settings.workers; nth += 1) {
      this.#workers.push(new WorkerProcess(nth, given, this.#log))
    }
    await Promise.all(this.#workers.map((worker) => worker.ready()))
  }

  /** Gives each worker one docket after another; the docket of a worker that died is given again. */
  async #fetch(ids: readonly string[]): Promise<void> {
    const waiting = ids.toReversed()
    let isPostponed = false
    const isStopped = () => isPostponed || this.#options.signal?.aborted === true
    await Promise.all(
      this.#workers.map(async (worker) => {
        for (let id = waiting.pop(); id !== undefined && !isStopped(); id = waiting.pop()) {
          const answer = await worker.ask({ docket: id })
          if (answer === undefined) waiting.push(id)
          else if (answer.said === 'docket') isPostponed = this.#note(id, answer.result) || isPostponed
          this.#options.onProgress?.(this.#progress())
        }
      }),
    )
  }

  /** Keeps what became of a docket; answers whether the quota was used up. */
  #note(id: string, result: (FromWorker & { said: 'docket' })['result']): boolean {
    if (result.outcome === 'postponed') return true
    if (result.outcome === 'failed') {
      this.#failed.add(id)
      this.#log(`docket ${id}: ${result.error}`)
      return false
    }
    this.#stored.add(id)
    if (result.outcome === 'fetched') {
      this.#fetched += 1
      this.#latencies.push(result.ms)
    }
    return false
  }

  async #retry(): Promise<void> {
    for (const at of this.#hours) {
      const answers = await Promise.all(
        this.#workers.map((worker) => worker.ask({ retry: new Date(at).toISOString() })),
      )
      for (const answer of answers) {
        if (answer?.said !== 'retried') continue
        this.#recovered += answer.recovered.length
        for (const id of answer.recovered) {
          this.#failed.delete(id)
          this.#stored.add(id)
        }
      }
    }
  }

  async #tell(): Promise<void> {
    await this.#tellCalls()
    await runState(this.#opened.keys, this.#dagRunId).publish()
  }

  async #tellCalls(): Promise<void> {
    const { keys } = this.#opened
    const { used = 0, window } = await keys.calls().peek()
    this.#hours.add(window.getTime())
    await runState(keys, this.#dagRunId).update({
      api_calls_this_hour: used,
      current_hour: param.hour.encode(window),
    })
  }

  #counts() {
    const failed = this.#ids.filter((id) => this.#failed.has(id) && !this.#stored.has(id)).length
    const stored = this.#ids.filter((id) => this.#stored.has(id)).length
    return { failed, stored, left: this.#ids.length - stored - failed }
  }

  #progress(): RunProgress {
    const { failed, stored } = this.#counts()
    const calls = [this.#ownCalls, ...this.#workers.map((worker) => worker.calls)]
    return {
      dagRunId: this.#dagRunId,
      listed: this.#ids.length,
      stored,
      failed,
      admitted: calls.reduce((sum, { admitted }) => sum + admitted, 0),
      rejected: calls.reduce((sum, { rejected }) => sum + rejected, 0),
    }
  }
}
