import { openModel } from '@keyspec-systems/model'

import { openTutor } from '../keyspace.ts'
import { openReader } from '../reading/reader.ts'
import { settings, wholeNumber } from '../settings.ts'
import { openTranscripts } from '../transcript/endpoint.ts'
import { openOcr } from '../upload/ocr.ts'
import { tutorServer } from './tutor-server.ts'

// The service by itself, on 127.0.0.1, over the Redis at REDIS_URL, whether that is there already or not. PORT (8080 unless
// set). Ends on SIGTERM and SIGINT.
try {
  const env = process.env
  const given = settings(env)
  const opened = openTutor(given)
  const model = openModel(env)
  const reader = openReader()
  const server = tutorServer({ opened, model, reader, ocr: openOcr(env), transcripts: openTranscripts(env) })
  const { url, close } = await server.listen(wholeNumber('PORT', env['PORT']?.trim() || '8080'))
  console.log(`the tutor listens on ${url}, with ${model.answerer.model} and ${model.embedder.model}`)
  if (!given.rateLimitEnabled) console.error('RATE_LIMIT_ENABLED is false: nobody is limited')
  const end = async () => {
    await close()
    reader.close()
    opened.close()
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void end())
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
