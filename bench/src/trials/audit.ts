import type { Trial, Trier } from '../trial.ts'
import type { AuditOptions, Looked } from './audit-member.ts'

const MANY = 1_000_000
const FEW = 100_000
const CASE = 'all keys'
const PEERS = ['redis-cli', 'ioredis']

/** A look at every key of a server. */
export const audit: Trial = {
  name: 'audit',
  about:
    `${MANY.toLocaleString('en')} keys of mixed types (${FEW.toLocaleString('en')} in a quick look), as fast as the server lets ` +
    'everybody. Peers ask for type, expiry and memory, and so do brief stats; full ones ask for encoding and idle time too. An ' +
    'audit asks for type and expiry, and reads and validates what is JSON. A snapshot is what the server sends to a replica; ' +
    'before it begins the server waits 5 s for other replicas, unless it is told not to (repl-diskless-sync-delay 0), as here ' +
    'where nothing else is said. The longest command is what INFO latencystats says of the slowest.',
  figures: {
    perSecond: { label: 'keys a second' },
    clientMicros: { label: 'client CPU a key', unit: 'µs' },
    serverMicros: { label: 'server CPU a key', unit: 'µs' },
    longestMs: { label: 'longest command', unit: 'ms' },
    peakMB: { label: 'peak memory', unit: 'MB' },
  },
  cases: [CASE],
  rounds: 3,
  contenders: {
    audit: { label: 'Keyspec audit', run: looking('audit') },
    briefStats: { label: 'Keyspec stats, exact, brief', run: looking('briefStats') },
    stats: { label: 'Keyspec stats, exact', run: looking('stats') },
    snapshotAudit: { label: 'Keyspec audit of a snapshot', run: looking('snapshotAudit') },
    snapshotStats: { label: 'Keyspec stats of a snapshot', run: looking('snapshotStats') },
    snapshotWaited: {
      label: 'Keyspec stats of a snapshot that the server waits with',
      run: looking('snapshotStats', true),
    },
    'redis-cli': { label: 'redis-cli --memkeys', run: looking('redis-cli') },
    ioredis: { label: 'ioredis: SCAN, pipelined TYPE, PTTL, MEMORY USAGE', run: looking('ioredis') },
  },
  targets: [
    { case: CASE, figure: 'perSecond', ours: 'briefStats', against: PEERS, atLeast: 4 },
    { case: CASE, figure: 'perSecond', ours: 'briefStats', against: ['redis-cli'], atLeast: 4 },
    { case: CASE, figure: 'perSecond', ours: 'audit', against: PEERS, atLeast: 4 },
    { case: CASE, figure: 'perSecond', ours: 'audit', against: ['redis-cli'], atLeast: 4 },
    { case: CASE, figure: 'perSecond', ours: 'snapshotStats', against: PEERS, atLeast: 10 },
    { case: CASE, figure: 'perSecond', ours: 'snapshotAudit', against: PEERS, atLeast: 10 },
    { case: CASE, figure: 'perSecond', ours: 'snapshotWaited', against: PEERS, atLeast: 10 },
    { case: CASE, figure: 'longestMs', ours: 'briefStats', atMost: 5 },
    { case: CASE, figure: 'longestMs', ours: 'audit', atMost: 5 },
    ...['audit', 'briefStats', 'stats', 'snapshotAudit', 'snapshotStats'].map((ours) => ({
      case: CASE,
      figure: 'peakMB',
      ours,
      atMost: 200,
    })),
  ],
}

function looking(contender: AuditOptions['contender'], waits = false): Trier['run'] {
  return async (_, { server, crowd, quick }) => {
    const redis = await server()
    const keys = quick ? FEW : MANY
    const given: AuditOptions = { contender, server: redis.address, keys }
    const process = () =>
      crowd<AuditOptions, Looked>([{ module: ['./audit-member.js', import.meta.url], given }])
    const filling = await process()
    await filling.go('fill')
    filling.end()
    const looks = await process()
    await redis.command('CONFIG', 'SET', 'latency-tracking-info-percentiles', '100')
    await redis.command('CONFIG', 'RESETSTAT')
    if (!waits) await redis.command('CONFIG', 'SET', 'repl-diskless-sync-delay', '0')
    const before = await redis.spent()
    const [{ tookMs, clientMicros, peakMB }] = (await looks.go('look')) as [Looked]
    const after = await redis.spent()
    const stats = String(await redis.command('INFO', 'latencystats'))
    const slowest = [...stats.matchAll(/^latency_percentiles_usec_(?!info|config)[^:]+:p100=([\d.]+)/gm)]
    return {
      perSecond: (keys / tookMs) * 1000,
      ...(clientMicros === undefined ? {} : { clientMicros: clientMicros / keys }),
      serverMicros: (after.cpuMicros - before.cpuMicros) / keys,
      longestMs: Math.max(...slowest.map(([, micros]) => Number(micros))) / 1000,
      ...(peakMB === undefined ? {} : { peakMB }),
    }
  }
}
