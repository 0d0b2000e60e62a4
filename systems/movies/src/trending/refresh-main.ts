import { loadCatalogue } from '../catalogue/catalogue.ts'
import { openMovies } from '../keyspace.ts'
import { jsonLog } from '../log.ts'
import { openSources } from '../open-sources.ts'
import { program } from '@keyspec-systems/program'
import { environmentName, required } from '../settings.ts'
import { refreshTrending } from './refresh.ts'

// One refresh, for cron: `0 0 * * *`. MOVIES_ENV, REDIS_URL, TMDB_TOKEN, TMDB_BASE_URL. Exit code 1 where the old list stays.
await program('trending', async (stop) => {
  const log = jsonLog((line) => console.log(line))
  const opened = openMovies({
    url: required(process.env, 'REDIS_URL'),
    environment: environmentName(process.env),
    log,
  })
  try {
    await opened.ready(AbortSignal.any([stop, AbortSignal.timeout(10_000)]))
    const { trending } = openSources(process.env, loadCatalogue())
    if (!(await refreshTrending(opened.keys, trending, log, stop))) process.exitCode = 1
  } finally {
    opened.close()
  }
})
