import { openModel } from '@keyspec-systems/model'
import { serveStandIn } from '@keyspec-systems/model/stand-in'
import { commandLine, keyspaceTable, needRedis, redisName, table } from '@keyspec-systems/program'
import { startRedis } from 'keyspec/testing'

import { openTutor } from './keyspace.ts'
import { openReader } from './reading/reader.ts'
import { sample } from './resource/sample.ts'
import { Tallies } from './run/tally.ts'
import { traffic } from './run/traffic.ts'
import { caches, cacheStats } from './server/cache-stats.ts'
import { tutorServer } from './server/tutor-server.ts'
import { settings, wholeNumber } from './settings.ts'
import { openTranscripts } from './transcript/endpoint.ts'
import { openOcr } from './upload/ocr.ts'

const usage = `Starts the tutor with a private Redis, and students who ask it.

  --once           end after the traffic, and print what became of it; without it the service then stays until Ctrl-C
  --seconds <n>    how long the students ask; 4 unless told
  --students <n>   how many there are; 8 unless told

MODEL_BASE_URL, MODEL_NAME, EMBEDDING_MODEL_NAME   an OpenAI-compatible endpoint; embedded models without it
OCR_URL, TRANSCRIPT_BASE_URL                       services that read images and fetch transcripts
REDIS_URL, REDIS_PASSWORD                          a Redis to use, which is left as it is; a private one without it
CACHE_TTL_SECONDS, RATE_LIMIT_ENABLED              as the README says
PORT                                               the port on 127.0.0.1; any free one unless set`

const { values, count } = commandLine(usage, {
  once: { type: 'boolean' },
  seconds: { type: 'string' },
  students: { type: 'string' },
})
const told = {
  once: values.once === true,
  seconds: count('seconds', 1, 4),
  students: count('students', 1, 8),
}

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())

const closers: (() => Promise<unknown> | void)[] = []
try {
  await job()
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
} finally {
  for (const close of closers.toReversed()) {
    await Promise.resolve(close()).catch((error: Error) => console.error(error.message))
  }
}

async function job(): Promise<void> {
  const env = process.env
  const port = wholeNumber('PORT', env['PORT']?.trim() || '0')
  const named = env['REDIS_URL']?.trim() ?? ''
  if (named !== '') await needRedis(named, { password: settings(env).redisPassword, signal: stop.signal })
  const redis = named === '' ? await startRedis() : undefined
  if (redis !== undefined) closers.push(() => redis.stop())
  const given =
    redis === undefined ? settings(env) : { ...settings(env), redisUrl: redis.url, redisPassword: undefined }
  const opened = openTutor(given)
  closers.push(() => opened.close())
  await opened.connected
  const model = openModel(env)
  const site = await serveStandIn('stand-in web site', ({ url }) => pageAt(url.pathname))
  closers.push(() => site.close())
  const [ocr, transcripts] = [openOcr(env), openTranscripts(env)]
  // The students read the pages of the stand-in, which are on a private address.
  const reader = openReader()
  closers.push(() => reader.close())
  const server = tutorServer({ opened, model, ocr, reader, transcripts, pages: { allowPrivate: true } })
  const { url, close } = await server.listen(port)
  closers.push(close)

  console.log(
    `redis    ${redis === undefined ? `${redisName(named)}, as REDIS_URL says` : `${redis.url}, private and temporary`}`,
  )
  console.log(`tutor    ${url}`)
  console.log(`models   ${model.answerer.model} and ${model.embedder.model}`)
  console.log(
    `sources  invented pages at ${site.url}, transcripts from ${transcripts.name}, OCR: ${ocr.name}`,
  )
  console.log(`limits   ${given.rateLimitEnabled ? 'on' : 'OFF: RATE_LIMIT_ENABLED is false'}`)
  console.log(`\n${told.students} students ask for ${told.seconds} s …`)

  const tallies = new Tallies()
  const startedAt = performance.now()
  const enough = AbortSignal.timeout(Math.min(told.seconds * 1000, 2 ** 31 - 1))
  await traffic({ url, site: site.url, users: told.students, tallies, enough, stop: stop.signal })
  const seconds = (performance.now() - startedAt) / 1000

  const stats = cacheStats(opened.keys)
  print('Requests', ['kind', 'admitted', 'rejected', 'failed', 'median ms', 'p99 ms'], tallies.rows())
  print(
    'Caches, in this process',
    ['cache', 'hits', 'misses', 'loads', 'waits'],
    caches.map((name) => [name, stats[name].hits, stats[name].misses, stats[name].loads, stats[name].waits]),
  )
  console.log('\nKeyspace')
  for (const line of await keyspaceTable(opened.schema, opened.connection)) console.log(line)
  console.log(`\n${tallies.count} requests in ${seconds.toFixed(1)} s, ${tallies.failed} failed.`)

  if (told.once) {
    if (stop.signal.aborted) process.exitCode = 130
    else if (tallies.failed > 0) throw new Error('Some requests failed: the lines above say which.')
    return
  }
  if (stop.signal.aborted) return
  console.log(`The tutor goes on at ${url}; Ctrl-C ends it, and nothing is left behind.`)
  await new Promise((resolve) => stop.signal.addEventListener('abort', resolve))
}

function pageAt(pathname: string) {
  const name = `${pathname.slice(1)}.html`
  if (name !== 'tide-mills.html' && name !== 'salt-roads.html')
    return { status: 404, body: 'There is no such page' }
  return { headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: sample(name).toString() }
}

function print(
  title: string,
  heads: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): void {
  console.log(`\n${title}`)
  for (const line of table(heads, rows)) console.log(line)
}
