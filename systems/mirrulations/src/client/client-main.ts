import { program, report } from '@keyspec-systems/program'
import { required, wholeNumber } from '../settings.ts'
import { openRegulations, regulationsSettings } from '../upstream/regulations.ts'
import { runClient } from './client.ts'
import { openReader } from './reading/reader.ts'
import { WorkApi } from './work-api.ts'

// A client as a process of its own. WORK_SERVER_URL, REGULATIONS_API_KEY, REGULATIONS_BASE_URL;
// CLIENT_MIN_INTERVAL_MS between two calls upstream, to stay inside an hourly limit.
await program('client', async (stop) => {
  const api = new WorkApi(required(process.env, 'WORK_SERVER_URL'))
  const minIntervalMs = wholeNumber(process.env, 'CLIENT_MIN_INTERVAL_MS', 0)
  const regulations = openRegulations({ ...regulationsSettings(process.env), minIntervalMs })
  report({ ready: true })
  const reader = openReader()
  await runClient({ api, regulations, reader, idleMs: 1_000, log: (line) => console.error(line) }, stop)
  reader.close()
})
