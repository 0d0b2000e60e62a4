import { commandLine, keyspaceTable, needRedis, program, redisName, table } from '@keyspec-systems/program'

import { jsonLog } from './log.ts'
import { startCacheServer } from './run/cache-server.ts'
import { tally } from './run/tally.ts'
import { traffic } from './run/traffic.ts'
import { movieServer } from './server/movie-server.ts'
import { openParts } from './server/open-parts.ts'
import { environmentName, wholeNumber } from './settings.ts'
import { daily } from './trending/daily.ts'
import { refreshTrending } from './trending/refresh.ts'

const usage = `A film search whose Redis is a pure cache: a private Redis, the search over HTTP, and visitors for a while.

  --once             end when the visitors have gone
  --seconds <n>      how long they stay; 5 unless told
  --visitors <n>     how many there are at once; 6 unless told

REDIS_URL            a Redis to use, which is left as it is; a private one unless set
MOVIES_ENV           stands before every key; "demo" here, since this Redis is nobody else's
PORT                 the port of the search on 127.0.0.1; any free one unless set
MODEL_BASE_URL, …    a language model and embeddings; embedded ones that need no network unless set: see the README
TMDB_TOKEN           details and trending films from TMDB; the catalogue's own unless set`

const number = { type: 'string' } as const
const { values, count } = commandLine(usage, {
  once: { type: 'boolean' },
  seconds: number,
  visitors: number,
})
const seconds = count('seconds', 1, 5)
const visitors = count('visitors', 1, 6)

await program('movies', run)

async function run(stop: AbortSignal): Promise<void> {
  const port = wholeNumber(process.env, 'PORT', 0)
  const environment = { MOVIES_ENV: 'demo', ...process.env }
  const prefix = `${environmentName(environment)}:`
  const { log, rows } = tally(jsonLog((line) => console.error(line)).warn)
  const named = process.env['REDIS_URL']?.trim() ?? ''
  if (named !== '') await needRedis(named, { signal: stop })
  const redis = named === '' ? await startCacheServer() : undefined
  try {
    const about = 'private and temporary: volatile-lru below 450 MB, nothing on disk'
    print('redis', redis === undefined ? `${redisName(named)}, as REDIS_URL says` : `${redis.url}, ${about}`)
    const parts = await openParts({ ...environment, REDIS_URL: redis?.url ?? named }, { log, signal: stop })
    try {
      await parts.opened.ready(stop)
      await serve(parts)
    } finally {
      parts.opened.close()
    }
  } finally {
    await redis?.stop()
  }

  async function serve(parts: Awaited<ReturnType<typeof openParts>>): Promise<void> {
    const { keys, opened, understander, embedder, details, trending, catalogue } = parts
    const server = await movieServer(parts).listen(port)
    const end = new AbortController()
    const refreshing = daily(
      () => refreshTrending(keys, trending, log, end.signal),
      AbortSignal.any([stop, end.signal]),
    )
    try {
      print('films', `${catalogue.films.length.toLocaleString('en')}, details from ${details.name}`)
      print('models', `${understander.model}, ${embedder.model}`)
      print('search', `${server.url}/search?q=trending+comedies`)
      print('visitors', `${visitors} at once, for ${seconds} s`)
      const told = await traffic({ url: server.url, visitors, durationMs: seconds * 1000, signal: stop })
      console.log(
        `\n${told.requests.toLocaleString('en')} requests in ${told.seconds.toFixed(1)} s, ${told.failures} failed; ` +
          `median ${told.medianMs.toFixed(1)} ms, p99 ${told.p99Ms.toFixed(1)} ms\n`,
      )
      for (const line of table(['cache', 'hits', 'misses', 'loads', 'waits'], rows(keys))) console.log(line)
      console.log()
      for (const line of await keyspaceTable(opened.schema, opened.connection, prefix)) console.log(line)
      if (values.once || stop.aborted) return
      console.log(`\nThe search goes on at ${server.url}; Ctrl-C ends it.`)
      await new Promise((resolve) => stop.addEventListener('abort', resolve))
    } finally {
      end.abort()
      await refreshing
      await server.close()
    }
  }
}

function print(what: string, words: string): void {
  console.log(`${what.padEnd(10)}${words}`)
}
