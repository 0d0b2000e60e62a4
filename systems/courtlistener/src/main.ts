import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { commandLine, keyspaceTable, redisName } from '@keyspec-systems/program'
import { sleep } from '@keyspec-systems/program/retry'
import { startRedis } from 'keyspec/testing'
import { cleanup } from './cleanup.ts'
import { openCourtlistener } from './keyspace.ts'
import { run, type RunReport } from './run.ts'
import { settingsOf, wholeNumber } from './settings.ts'
import { openUpstream } from './upstream/open-upstream.ts'

const help = `Fetches dockets from CourtListener with several workers under one hourly quota.

  --once            one run, then what it did and the keyspace; a used-up quota ends it, and the next start goes on
  --dockets <n>     how many dockets at most; 120 of the stand-in unless told, all of the real API
  --workers <n>     how many workers; 3 unless told, or COURTLISTENER_WORKERS
  --run <id>        the run to make or to go on with; else the one that has not ended
  --cleanup         tells the age of every key, and deletes those past their policy only with --delete

COURTLISTENER_TOKEN   use the real API, at COURTLISTENER_BASE_URL if that is set; without it a stand-in is started
COURTLISTENER_DATA    where dockets and Redis are kept; without it they go at the end (real API: ./courtlistener-data)
REDIS_URL             use this Redis instead of a private one
CALL_LIMIT_PER_HOUR, COURTLISTENER_SAFETY_BUFFER, REDIS_COUNTER_TTL_HOURS, REDIS_STATE_TTL_HOURS: see the README`

const { values, count } = commandLine(help, {
  once: { type: 'boolean' },
  cleanup: { type: 'boolean' },
  delete: { type: 'boolean' },
  dockets: { type: 'string' },
  workers: { type: 'string' },
  run: { type: 'string' },
})
const dockets = count('dockets', 0, undefined) || undefined
const workers = count('workers', 1, undefined)

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())
const atEnd: (() => Promise<unknown> | void)[] = []

try {
  await main()
} catch (error) {
  if (stop.signal.aborted) process.exitCode = 130
  else {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
} finally {
  for (const close of atEnd.toReversed()) await close()
}

async function main(): Promise<void> {
  const words = { ...process.env, ...(workers && { COURTLISTENER_WORKERS: String(workers) }) }
  const settings = settingsOf(words)
  const intervalMs = wholeNumber(process.env, 'COURTLISTENER_INTERVAL_MS', 60_000)
  const upstream = await openUpstream(process.env, { dockets: dockets ?? 120 })
  atEnd.push(() => upstream.close())
  const data = await dataFolder(upstream.isReal)
  if (data.isTemporary) atEnd.push(() => rm(data.path, { recursive: true, force: true }))
  const redisUrl = await redisAt(data)
  console.log(`upstream  ${upstream.name}`)
  console.log(`redis     ${redisName(redisUrl)}`)
  console.log(`workers   ${settings.workers}`)

  const { keys, schema, connection, ready, close } = openCourtlistener({
    url: redisUrl,
    settings,
    log: console.error,
  })
  atEnd.push(close)
  await ready(stop.signal)
  if (values.cleanup) return clean(keys, settings)

  for (;;) {
    let saidMs = 0
    const report = await run({
      redisUrl,
      settings,
      token: upstream.token,
      baseUrl: upstream.baseUrl,
      folder: join(data.path, 'dockets'),
      ...(dockets === undefined ? {} : { dockets }),
      ...(values.run === undefined ? {} : { dagRunId: values.run }),
      ...(values.once ? { maxWaitMs: 5_000 } : {}),
      signal: stop.signal,
      log: (line) => console.log(line),
      onProgress({ stored, failed, listed, admitted, rejected }) {
        if (performance.now() - saidMs < 1_000) return
        saidMs = performance.now()
        console.log(`${stored + failed}/${listed} dockets  ${admitted} calls admitted, ${rejected} rejected`)
      },
    })
    tell(report)
    if (values.once || stop.signal.aborted) break
    await sleep(intervalMs, stop.signal)
  }
  console.log('\nKeyspace')
  for (const line of await keyspaceTable(schema, connection)) console.log(line)
}

function tell(report: RunReport): void {
  const { metrics, tasks } = report
  console.log(`
run        ${report.dagRunId}: ${report.status}
calls      ${report.admitted} admitted, ${report.rejected} rejected
dockets    ${report.listed} listed, ${report.fetched} fetched, ${report.stored} stored, ${report.failed} failed, ${report.recovered} recovered, ${report.left} left
latency    median ${report.medianMs} ms, p99 ${report.p99Ms} ms
redis      ${metrics.operations} operations, ${metrics.operation_failures} failed, p99 ${metrics.p99_response_time.toFixed(1)} ms, ${metrics.used_memory ?? '?'} bytes`)
  for (const { task, count, minMs, medianMs, p95Ms } of tasks) {
    console.log(`task       ${task}: ${count}, min ${minMs} ms, median ${medianMs} ms, p95 ${p95Ms} ms`)
  }
  if (report.left > 0) console.log('The next start goes on with what is left.')
}

async function clean(
  keys: ReturnType<typeof openCourtlistener>['keys'],
  settings: ReturnType<typeof settingsOf>,
): Promise<void> {
  let kept = 0
  let past = 0
  for await (const { key, ageMs, ttlMs, isPastPolicy, isDeleted } of cleanup(keys, {
    settings,
    dryRun: !values.delete,
  })) {
    if (isPastPolicy) past += 1
    else kept += 1
    const age = ageMs === undefined ? 'of unknown age' : `${Math.round(ageMs / 60_000)} min old`
    const verdict = isDeleted ? 'deleted' : isPastPolicy ? 'past its policy' : 'kept'
    console.log(
      `${key}  ${age}, ${ttlMs === 'forever' ? 'no TTL' : `TTL ${Math.round(ttlMs / 1000)} s`}: ${verdict}`,
    )
  }
  console.log(
    `${past} ${values.delete ? 'deleted' : 'past their policy (nothing deleted without --delete)'}, ${kept} kept`,
  )
}

interface DataFolder {
  readonly path: string
  readonly isTemporary: boolean
}

async function dataFolder(isReal: boolean): Promise<DataFolder> {
  const named = process.env['COURTLISTENER_DATA']?.trim() || (isReal ? 'courtlistener-data' : '')
  if (named === '') return { path: await mkdtemp(join(tmpdir(), 'courtlistener-')), isTemporary: true }
  return { path: resolve(named), isTemporary: false }
}

async function redisAt({ path, isTemporary }: DataFolder): Promise<string> {
  const given = process.env['REDIS_URL']?.trim() ?? ''
  if (given !== '') return given
  const dir = join(path, 'redis')
  if (!isTemporary) mkdirSync(dir, { recursive: true })
  const redis = await startRedis({
    config: isTemporary ? {} : { dir, appendonly: 'yes', appendfsync: 'everysec' },
  })
  atEnd.push(() => redis.stop())
  return redis.url
}
