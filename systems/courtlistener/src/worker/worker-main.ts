import { setTimeout as wait } from 'node:timers/promises'
import { admission } from '../admission.ts'
import { openCourtlistener } from '../keyspace.ts'
import { openOutput } from '../processing/output.ts'
import { settingsOf, wholeNumber } from '../settings.ts'
import { failuresIn } from '../state/failures.ts'
import { courtListenerSettings, openCourtListener } from '../upstream/courtlistener.ts'
import { backlog } from './backlog.ts'
import { docketTask, fetchDocket, type Workplace } from './docket-task.ts'
import type { FromWorker, ToWorker } from './message.ts'

// One worker: fetches the dockets that the process that started it tells it, one at a time, and ends with it.
const { env } = process
const stop = new AbortController()
process.on('disconnect', () => process.exit())
// A Ctrl-C in the terminal reaches everybody: the process that started us ends us in order.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => process.exit())

const log = (line: string) => console.error(line)
const opened = openCourtlistener({
  url: required('REDIS_URL'),
  prefix: env['REDIS_PREFIX'] ?? '',
  settings: settingsOf(env),
  log,
})
const { keys } = opened
const { signal } = stop
const maxWaitMs = wholeNumber(env, 'COURTLISTENER_MAX_WAIT_MS', 4_000_000)
const calls = admission(keys.calls(), { maxWaitMs, log, signal })
const workplace: Workplace = {
  keys,
  dagRunId: required('DAG_RUN_ID'),
  api: openCourtListener({
    ...courtListenerSettings(env),
    timeoutMs: wholeNumber(env, 'COURTLISTENER_TIMEOUT_MS', 30_000),
    backoffMs: wholeNumber(env, 'COURTLISTENER_BACKOFF_MS', 500),
    attempts: wholeNumber(env, 'COURTLISTENER_ATTEMPTS', 5),
    admit: calls.admit,
  }),
  output: await openOutput(required('OUTPUT')),
  backlog: backlog(),
  signal,
}

process.on('message', (message: ToWorker) => {
  work(message).catch((error: unknown) => say({ said: 'error', error: words(error) }))
})
say({ said: 'ready' })

async function work(message: ToWorker): Promise<void> {
  if ('stop' in message) stop.abort()
  else if ('docket' in message) {
    const result = await docketTask(workplace, message.docket)
    say({ said: 'docket', docketId: message.docket, result, calls: tally() })
  } else if ('retry' in message) {
    await settled()
    const { recovered } = await failuresIn(keys).retry(
      new Date(message.retry),
      workplace.dagRunId,
      async (docketId) => void (await fetchDocket(workplace, docketId)),
    )
    await settled()
    say({ said: 'retried', recovered, calls: tally() })
  } else {
    await settled()
    opened.close()
    process.disconnect()
  }
}

/** What Redis could not be told must be told before one ends; for so long, then it is found again by the files. */
async function settled(): Promise<void> {
  const left = async () => (await workplace.backlog.settle()) + (await keys.calls().settle())
  for (let tries = 0; tries < 100 && (await left()) > 0; tries += 1) await wait(100)
}

function tally() {
  return { admitted: calls.admitted, rejected: calls.rejected }
}

function say(message: FromWorker): void {
  process.send?.(message)
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function required(name: string): string {
  const value = env[name]?.trim() ?? ''
  if (value === '') throw new Error(`${name} is not set`)
  return value
}
