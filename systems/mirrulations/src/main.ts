import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  type Child,
  commandLine,
  keyspaceTable,
  needRedis,
  ownFile,
  pause,
  redisName,
  screen,
  startChild,
  table,
} from '@keyspec-systems/program'
import { startRedis } from 'keyspec/testing'
import { openMirrulations } from './keyspace.ts'
import { progress } from './run/progress.ts'
import { openUpstream } from './run/upstream.ts'
import { statistics } from './server/statistics.ts'

const usage = `Mirrors regulations.gov: a private Redis, a work generator, a work server and clients, each a process.

  --once            end when the backlog is done
  --clients <n>     how many clients; 3 unless told
  --dockets <n>     records of the stand-in, likewise --documents, --comments, --attachments

REDIS_URL             use this Redis instead of a private one
REGULATIONS_API_KEY   mirror the real API, at REGULATIONS_BASE_URL if that is set; without it a stand-in is started
MIRRULATIONS_DATA     where the mirror and Redis keep their files; without it they go when the job ends
                      (with the real API: ./mirrulations-data)
PORT                  the port of the work server on 127.0.0.1; any free one unless set`

const number = { type: 'string' } as const
const { values, count } = commandLine(usage, {
  once: { type: 'boolean' },
  clients: number,
  dockets: number,
  documents: number,
  comments: number,
  attachments: number,
})
const clients = count('clients', 1, 3)
const backlog = Object.fromEntries(
  (['dockets', 'documents', 'comments', 'attachments'] as const).flatMap((name) => {
    const size = count(name, 0, undefined)
    return size === undefined ? [] : [[name, size]]
  }),
)

const out = screen(process.stdout, process.env)
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
  const upstream = await openUpstream(process.env, backlog)
  atEnd(() => upstream.close())
  out.print(`upstream     ${upstream.name}`)

  const data = await dataFolder(upstream.isReal)
  if (data.isTemporary) atEnd(() => rm(data.path, { recursive: true, force: true }))
  const { url: redisUrl, about } = await redisFor(data, atEnd)
  out.print(`redis        ${redisName(redisUrl)}, ${about}`)

  const mirror = join(data.path, 'mirror')
  const { keys, connection, schema, close } = await openMirrulations(redisUrl)
  atEnd(close)
  const children: Child[] = []
  // The work server last: clients may still have something to bring or to give back.
  const stopAll = async () => {
    await Promise.all(children.slice(1).map((child) => child.stop()))
    await children[0]?.stop()
  }
  atEnd(stopAll)
  const begin = async (
    name: string,
    file: string,
    env: Readonly<Record<string, string>>,
    restarts: boolean,
  ) => {
    const module = ownFile(import.meta.url, `program/${file}`)
    const words = values.once && !restarts ? ['--once'] : []
    // What goes well is in the progress display already.
    const log = (line: string, isError: boolean) => (isError ? out.print(out.dim(line)) : undefined)
    const given = { REDIS_URL: redisUrl, ...upstream.env, ...env }
    const child = await startChild({ name, module, arguments: words, env: given, restarts, log })
    children.push(child)
    return child
  }

  const server = await begin(
    'work server',
    'server/server-main.js',
    { MIRROR_DIR: mirror, MIRROR_SOURCE: upstream.name },
    true,
  )
  if (server.url === undefined) throw new Error('the work server did not start; its words are above')
  out.print(`work server  ${server.url}/data`)
  const [generator] = await Promise.all([
    begin('work generator', 'generator/generator-main.js', {}, false),
    ...Array.from({ length: clients }, (_, index) =>
      begin(`client ${index + 1}`, 'client/client-main.js', { WORK_SERVER_URL: server.url! }, true),
    ),
  ])

  let generated: number | undefined
  void generator.ended.then((code) => (generated = code))
  for (;;) {
    const now = await statistics(keys)
    if (generated !== undefined && generated !== 0 && !stop.signal.aborted) {
      throw new Error('the work generator has given up; its words are above')
    }
    const isDone =
      values.once && generated === 0 && now['jobs_waiting'] === 0 && now['jobs_in_progress'] === 0
    if (isDone || stop.signal.aborted) break
    out.show(progress(now, performance.now() - startedAt, out))
    await pause(out.isTerminal ? 200 : 500, stop.signal)
  }
  out.clear()

  // The work server measures the mirror when it ends, so it ends before the tables are drawn.
  await stopAll()
  if (values.once && stop.signal.aborted) process.exitCode = 130
  const final = await statistics(keys)
  out.print(`\n${out.bold('Keyspace')}`)
  for (const line of await keyspaceTable(schema, connection)) out.print(line)
  out.print(`\n${out.bold('Statistics')}`)
  const rows = Object.entries(final).map(([name, value]) => [name, String(value ?? '–')])
  for (const line of table(['name', 'value'], rows)) out.print(line)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const where = data.isTemporary ? ', and nothing is left of it' : `, in ${mirror}`
  out.print(
    `\n${stop.signal.aborted ? 'Stopped' : 'Done'} after ${seconds} s: ${final['jobs_done']} jobs done, ${final['invalid_jobs']} invalid${where}.`,
  )
}

async function dataFolder(
  isReal: boolean,
): Promise<{ readonly path: string; readonly isTemporary: boolean }> {
  const named = process.env['MIRRULATIONS_DATA']?.trim() || (isReal ? 'mirrulations-data' : '')
  if (named === '') return { path: await mkdtemp(join(tmpdir(), 'mirrulations-')), isTemporary: true }
  const path = resolve(named)
  mkdirSync(join(path, 'redis'), { recursive: true })
  return { path, isTemporary: false }
}

/** The Redis that was named, or a private one. */
async function redisFor(
  data: { readonly path: string; readonly isTemporary: boolean },
  atEnd: (close: () => Promise<unknown>) => void,
): Promise<{ readonly url: string; readonly about: string }> {
  const named = process.env['REDIS_URL']?.trim()
  if (named) {
    await needRedis(named, { signal: stop.signal })
    return { url: named, about: 'as REDIS_URL says' }
  }
  const redis = await startRedis({ config: data.isTemporary ? {} : persistence(data.path) })
  atEnd(() => redis.stop())
  const about = data.isTemporary ? 'private and temporary' : `private, kept in ${data.path}`
  return { url: redis.url, about }
}

/** Every write is on disk before it is answered: watermarks and jobs are there when the job is started again. */
function persistence(path: string): Record<string, string> {
  return { dir: join(path, 'redis'), appendonly: 'yes', appendfsync: 'always' }
}
