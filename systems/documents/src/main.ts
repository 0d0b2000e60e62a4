import { mkdirSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  type Child,
  commandLine,
  keyspaceTable,
  misuse,
  needRedis,
  ownFile,
  pause,
  redisName,
  screen,
  startChild,
} from '@keyspec-systems/program'
import { startRedis } from 'keyspec/testing'
import { openDocuments } from './keyspace.ts'
import { ended, latencyTable, summary } from './run/report.ts'
import { documentsIn, submit } from './run/submit.ts'
import { limits, wholeNumber } from './settings.ts'

const usage = `Reads documents in queued stages: a private Redis, and workers, each a process.

  npm start -- documents [--once] [--serve] [--workers <n>] [<file or folder> …]

  --once          end when every document has been read
  --serve         Bull Board on this machine, to look at; at PORT, or any free one
  --workers <n>   how many workers; 2 unless told
  <file …>        PDFs and texts, or folders of them; the samples unless told

REDIS_URL         a Redis to use, which is left as it is; without it a private one is started
DOCUMENTS_DATA    where the private Redis keeps its files; without it they go when the job ends
OCR_COMMAND       reads pages that are pictures: tesseract stdin stdout -l eng
RATE_LIMIT        how many jobs of a queue a batch may begin in RATE_LIMIT_PER (1m); 600
JOB_LEASE_MS      after which time the job of a worker that died is another's; 30000`

const { values, positionals, count } = commandLine(
  usage,
  { once: { type: 'boolean' }, serve: { type: 'boolean' }, workers: { type: 'string' } },
  { takesFiles: true },
)
const workerCount = count('workers', 1, 2)
const paths = await inputs()

const { env } = process
const out = screen(process.stdout, env)
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())

try {
  await run()
} catch (error) {
  out.clear()
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}

async function run(): Promise<void> {
  const closers: (() => Promise<unknown> | void)[] = []
  try {
    await job((close) => closers.push(close))
  } finally {
    out.clear()
    for (const close of closers.toReversed()) {
      await Promise.resolve(close()).catch((error: Error) => console.error(error.message))
    }
  }
}

async function job(atEnd: (close: () => Promise<unknown> | void) => void): Promise<void> {
  const startedAt = performance.now()
  const url = await redisUrl(atEnd)
  const { keys, connection, schema, client, close } = await openDocuments(url, limits(env))
  atEnd(close)
  // BullMQ and its board take long to load: whoever misspelt a word, or whose Redis is away, should not wait for them.
  const { openBroker } = await import('./worker/broker.ts')
  const broker = openBroker(client)
  atEnd(() => broker.close())

  if (values.serve) {
    const { serveBoard } = await import('./run/board.ts')
    const board = await serveBoard(broker, env['PORT'] === undefined ? 0 : wholeNumber(env, 'PORT', 0))
    atEnd(() => board.close())
    out.print(`bull board   ${board.url}`)
  }
  const children: Child[] = []
  const stopAll = () => Promise.all(children.map((child) => child.stop()))
  atEnd(stopAll)
  await Promise.all(
    Array.from({ length: workerCount }, async (_, index) => {
      const name = `worker-${index + 1}`
      const module = ownFile(import.meta.url, 'program/worker/worker-main.js')
      const log = (line: string, isError: boolean) => (isError ? out.print(out.dim(line)) : undefined)
      const given = { REDIS_URL: url, WORKER_NAME: name }
      children.push(await startChild({ name, module, env: given, restarts: true, log }))
    }),
  )

  const batchId = `batch-${Date.now().toString(36)}`
  const { documents } = await submit(keys, broker, batchId, paths)
  out.print(`batch        ${batchId}: ${documents.map(({ name }) => name).join(', ')}`)
  for (let isTold = false; !stop.signal.aborted;) {
    const { done, total } = await ended(keys, batchId)
    if (done >= total && values.once) break
    if (!isTold) out.show([`${done} of ${total} documents read`])
    isTold = done >= total
    await pause(out.isTerminal ? 200 : 500, stop.signal)
  }
  out.clear()

  // A worker writes its last metrics when it ends.
  await stopAll()
  if (values.once && stop.signal.aborted) process.exitCode = 130
  out.print(`\n${out.bold('Keyspace')}`)
  for (const line of await keyspaceTable(schema, connection)) out.print(line)
  out.print(`\n${out.bold('Stages')}`)
  for (const line of await latencyTable(keys, batchId)) out.print(line)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  out.print(
    `\n${stop.signal.aborted ? 'Stopped' : 'Done'} after ${seconds} s: ${await summary(keys, batchId)}.`,
  )
}

async function redisUrl(atEnd: (close: () => Promise<unknown>) => void): Promise<string> {
  const given = env['REDIS_URL']?.trim() ?? ''
  if (given !== '') {
    await needRedis(given, { signal: stop.signal })
    out.print(`redis        ${redisName(given)}, as REDIS_URL says`)
    return given
  }
  const named = env['DOCUMENTS_DATA']?.trim() ?? ''
  const folder = named === '' ? undefined : resolve(named)
  if (folder !== undefined) mkdirSync(folder, { recursive: true })
  const redis = await startRedis({
    config: folder === undefined ? {} : { dir: folder, appendonly: 'yes', appendfsync: 'always' },
  })
  atEnd(() => redis.stop())
  out.print(
    `redis        ${redis.url}, private${folder === undefined ? ' and temporary' : `, kept in ${folder}`}`,
  )
  return redis.url
}

async function inputs(): Promise<string[]> {
  const samples = ownFile(import.meta.url, 'samples')
  const named = positionals.length === 0 ? [samples] : positionals
  const paths: string[] = []
  for (const path of named) {
    try {
      const isFolder = (await stat(path)).isDirectory()
      if (!isFolder && !/\.(pdf|txt)$/i.test(path)) misuse(`${path} is neither a .pdf nor a .txt`)
      paths.push(...(isFolder ? await documentsIn(path) : [resolve(path)]))
    } catch (error) {
      misuse(error instanceof Error ? error.message : String(error))
    }
  }
  if (paths.length === 0) misuse(`there is no .pdf or .txt in ${named.join(', ')}`)
  return paths
}
