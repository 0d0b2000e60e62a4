import { openMirrulations } from '../keyspace.ts'
import { pause, program, report } from '@keyspec-systems/program'
import { duration, isOn, required, wholeNumber } from '../settings.ts'
import { openStore } from '../storage/store.ts'
import { adoptJobs } from './adopt.ts'
import { beginCounting } from './begin-counting.ts'
import { bucketSize } from './bucket-size.ts'
import { workServer } from './work-server.ts'

// The work server as a process of its own, on 127.0.0.1. REDIS_URL, MIRROR_DIR, PORT (any free one unless set),
// JOB_LEASE (5m unless set), MIRROR_SOURCE (what the page calls the upstream), LEGACY_CLIENTS (1 lets those of the
// originals in, which know no tokens).
await program('work server', async (stop) => {
  const { lease = '5m' } = duration(process.env, 'JOB_LEASE')
  const opened = await openMirrulations(required(process.env, 'REDIS_URL'), { lease })
  const { keys, connection, close } = opened
  await beginCounting(opened).catch((error: Error) => console.error(`counters: ${error.message}`))
  const store = await openStore(required(process.env, 'MIRROR_DIR'))
  const source = process.env['MIRROR_SOURCE'] ?? 'regulations.gov'
  const legacyClients = isOn(process.env, 'LEGACY_CLIENTS')
  const server = workServer({ keys, connection, store, leaseMs: keys.jobs().leaseMs, source, legacyClients })
  const { url, close: closeServer } = await server.listen(wholeNumber(process.env, 'PORT', 0))
  console.log(`the work server listens on ${url}`)
  report({ ready: true, url })

  const recover = async () => {
    const adopted = await adoptJobs(opened)
    if (adopted > 0) console.error(`${adopted} jobs that other programs have in progress have a lease now`)
    await keys.jobs().recoverExpired()
  }
  let sizeEveryMs = 10_000
  const measure = async () => {
    const begun = performance.now()
    await keys.bucketSize().set(await bucketSize(store.root))
    // So that a large mirror is not measured all the time.
    sizeEveryMs = Math.max(10_000, 20 * (performance.now() - begun))
  }
  try {
    await Promise.all([
      // What a dead client held comes back though no other client asks for a job.
      repeat('leases', () => Math.min(10_000, keys.jobs().leaseMs / 4), recover, stop),
      repeat('size', () => sizeEveryMs, measure, stop),
    ])
    await closeServer()
    await measure()
  } finally {
    close()
  }
})

async function repeat(
  what: string,
  everyMs: () => number,
  task: () => Promise<unknown>,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    await task().catch((error: Error) => console.error(`${what}: ${error.message}`))
    await pause(everyMs(), stop)
  }
}
