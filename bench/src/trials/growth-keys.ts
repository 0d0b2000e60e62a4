import type { BenchServer } from '../server.ts'
import type { Trial } from '../trial.ts'
import type { AuditCost } from './growth-keys-member.ts'

const sizes = {
  '1,000 keys': 1e3,
  '10,000 keys': 1e4,
  '100,000 keys': 1e5,
  '1,000,000 keys': 1e6,
  '10,000,000 keys': 1e7,
} as const
const cases = Object.keys(sizes)

/** Time and memory of an audit, by the number of keys. */
export const growthOfKeys: Trial = {
  name: 'growth-keys',
  about:
    'How long an audit of small JSON values takes as fast as the server lets it, and the most memory its process ever had.',
  figures: {
    tookMs: { label: 'time', unit: 'ms' },
    cpuMs: { label: 'client CPU', unit: 'ms' },
    keyMicros: { label: 'time a key', unit: 'µs' },
    peakMB: { label: 'peak memory', unit: 'MB' },
  },
  cases: cases.slice(0, 4),
  quick: cases.slice(0, 3),
  huge: cases,
  rounds: 1,
  grows: { by: 'keys', sizes, drawn: ['tookMs', 'peakMB'] },
  contenders: {
    keyspec: {
      label: 'Keyspec',
      async run(name, { server, crowd }) {
        const redis = await server()
        await fill(redis, sizes[name as keyof typeof sizes])
        const auditing = await crowd<object, AuditCost>([
          { module: ['./growth-keys-member.js', import.meta.url], given: { server: redis.address } },
        ])
        const [{ keys, tookMs, cpuMs, peakMB }] = (await auditing.go('audit')) as [AuditCost]
        return { tookMs, cpuMs, keyMicros: (tookMs / keys) * 1000, peakMB }
      },
    },
  },
  // Flat in memory and linear in time, from where what an empty process needs no longer counts.
  targets: cases.slice(3).flatMap((name) => [
    { case: name, figure: 'peakMB', ours: 'keyspec', againstCase: cases[2]!, atMost: 1.3 },
    { case: name, figure: 'keyMicros', ours: 'keyspec', againstCase: cases[2]!, atMost: 1.5 },
  ]),
}

const FILL = `for id = ARGV[1], ARGV[2] do redis.call('SET', 'session:' .. id, '{"user":"ada"}', 'PX', 3600000) end`

async function fill(redis: BenchServer, keys: number): Promise<void> {
  for (let from = 0; from < keys; from += 20_000)
    await redis.command('EVAL', FILL, 0, from, Math.min(from + 20_000, keys) - 1)
}
