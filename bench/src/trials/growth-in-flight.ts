import { startContender } from '../contender-process.ts'
import { pin } from '../pin.ts'
import type { Trial, Trier } from '../trial.ts'

const sizes = { '1 in flight': 1, '50 in flight': 50, '500 in flight': 500, '5,000 in flight': 5000 } as const
const cases = Object.keys(sizes)

/** What waiting costs, by how many wait at once. */
export const growthInFlight: Trial = {
  name: 'growth-in-flight',
  about:
    'How long a typed get takes, and how many are answered, by how many are asked at once; client and server on one core.',
  figures: {
    perSecond: { label: 'a second' },
    cpuMicros: { label: 'client CPU', unit: 'µs' },
    p50: { label: 'p50', unit: 'µs' },
    p99: { label: 'p99', unit: 'µs' },
  },
  cases,
  grows: { by: 'in flight', sizes, drawn: ['p99', 'perSecond'] },
  contenders: {
    keyspec: { label: 'Keyspec over node-redis', run: gets('keyspec/node-redis') },
    'node-redis': { label: 'node-redis, time-out off', run: gets('node-redis') },
  },
  targets: cases.map((name) => ({
    case: name,
    figure: 'p99',
    ours: 'keyspec',
    against: ['node-redis'],
    atMost: 1,
  })),
}

/** Those of the job that reads and writes, with more of them at once. */
function gets(contender: string): Trier['run'] {
  return async (name, { server, core, quick }) => {
    const inFlight = sizes[name as keyof typeof sizes]
    const redis = await server()
    if (core !== undefined) pin(redis.pid, core)
    const process = await startContender('get-set', contender, redis.address, core)
    try {
      const forMs = quick ? 250 : 1000
      // Until it is compiled.
      await process.round('get', inFlight, Math.max(1500, forMs))
      const { perSecond, clientMicros, p50Micros, p99Micros } = await process.round('get', inFlight, forMs)
      return { perSecond, cpuMicros: clientMicros, p50: p50Micros, p99: p99Micros }
    } finally {
      await process.close().catch(() => {})
    }
  }
}
