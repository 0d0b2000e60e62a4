import { openMirrulations } from '../keyspace.ts'
import { backoff, pause, program, report } from '@keyspec-systems/program'
import { required, wholeNumber } from '../settings.ts'
import { openRegulations, regulationsSettings } from '../upstream/regulations.ts'
import { UpstreamError } from '@keyspec-systems/program/upstream'
import { generate } from './generate.ts'

// The work generator as a process of its own. REDIS_URL, REGULATIONS_API_KEY, REGULATIONS_BASE_URL;
// GENERATOR_INTERVAL_MS between two runs. With --once it ends when one run has come through.
const once = process.argv.includes('--once')

await program('work generator', async (stop) => {
  const intervalMs = wholeNumber(process.env, 'GENERATOR_INTERVAL_MS', 60_000)
  const pageSize = wholeNumber(process.env, 'GENERATOR_PAGE_SIZE', 250)
  const regulations = openRegulations({ ...regulationsSettings(process.env), pageSize })
  const { keys, close } = await openMirrulations(required(process.env, 'REDIS_URL'))
  const pauses = backoff(30_000)
  report({ ready: true })
  try {
    while (!stop.aborted) {
      try {
        for await (const { kind, added, known, watermark } of generate(keys, regulations, stop)) {
          pauses.reset()
          console.log(`${kind}: ${added} jobs${known > 0 ? `, ${known} known` : ''}, up to ${watermark}`)
        }
        if (once) return
        await pause(intervalMs, stop)
      } catch (error) {
        if (stop.aborted) return
        // Another try would be answered the same: somebody has to do something.
        if (error instanceof UpstreamError && (error.reason === 'credentials' || error.isFinal)) throw error
        console.error(`the run was cut off, and goes on from its watermark: ${(error as Error).message}`)
        const asked = error instanceof UpstreamError ? (error.retryAfterMs ?? 0) : 0
        await pause(Math.max(asked, pauses.next()), stop)
      }
    }
  } finally {
    close()
  }
})
