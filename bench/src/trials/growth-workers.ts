import type { Trial } from '../trial.ts'
import type { Worked, WorkerOptions } from './growth-workers-member.ts'

const sizes = { '1 worker': 1, '2 workers': 2, '4 workers': 4, '8 workers': 8, '16 workers': 16 } as const

/** Jobs a second, by the number of processes that work on one queue. */
export const growthOfWorkers: Trial = {
  name: 'growth-workers',
  about:
    'Jobs a second of one Keyspec workQueue, taken and completed 100 at a time, by the number of worker processes. They share ' +
    'the cores of this machine with the server.',
  figures: {
    perSecond: { label: 'jobs a second' },
    serverMicros: { label: 'server CPU of a job', unit: 'µs' },
    lost: { label: 'jobs done too rarely or too often' },
  },
  cases: Object.keys(sizes),
  quick: ['1 worker', '4 workers'],
  rounds: 3,
  grows: { by: 'workers', sizes, drawn: ['perSecond'] },
  contenders: {
    keyspec: {
      label: 'Keyspec workQueue',
      async run(name, { server, crowd, quick }) {
        const workers = sizes[name as keyof typeof sizes]
        const redis = await server()
        const jobs = quick ? 8_000 : 80_000
        const working = await crowd<WorkerOptions, Worked>(
          Array.from({ length: workers }, (_, at) => ({
            module: ['./growth-workers-member.js', import.meta.url] as const,
            given: { server: redis.address, name: `worker${at}`, adds: jobs / workers },
          })),
        )
        const before = await redis.spent()
        const worked = await working.go('work')
        const after = await redis.spent()
        const done = worked.reduce((sum, each) => sum + each.jobs, 0)
        const tookMs =
          Math.max(...worked.map(({ until }) => until)) - Math.min(...worked.map(({ from }) => from))
        return {
          perSecond: (done / tookMs) * 1000,
          serverMicros: (after.cpuMicros - before.cpuMicros) / done,
          lost: Math.abs(done - jobs),
        }
      },
    },
  },
  targets: Object.keys(sizes).map((name) => ({
    case: name,
    figure: 'lost',
    ours: 'keyspec',
    atLeast: 0,
    atMost: 0,
    always: true,
  })),
}
