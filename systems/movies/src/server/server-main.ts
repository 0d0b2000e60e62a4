import { jsonLog } from '../log.ts'
import { program, report } from '@keyspec-systems/program'
import { wholeNumber } from '../settings.ts'
import { movieServer } from './movie-server.ts'
import { openParts } from './open-parts.ts'

// The search as a process of its own, on 127.0.0.1. MOVIES_ENV, REDIS_URL, PORT (any free one unless set); the README has
// the rest. The trending films are refreshed by `trending/refresh-main.js`, from cron.
await program('movies', async (stop) => {
  const log = jsonLog((line) => console.log(line))
  const parts = await openParts(process.env, { log, signal: stop })
  try {
    const { url, close } = await movieServer(parts).listen(wholeNumber(process.env, 'PORT', 0))
    log.info('listening', { url, understanding: parts.understander.model, details: parts.details.name })
    report({ ready: true, url })
    if (!stop.aborted) await new Promise((resolve) => stop.addEventListener('abort', resolve))
    await close()
  } finally {
    parts.opened.close()
  }
})
