import { configured, type Diagnosis } from './diagnosis.ts'
import type { NodeFacts } from './node-facts.ts'

const LARGE_BYTES = 64 * 1024 ** 2
const MOST_SKEW_MS = 1_000
const MOST_LAG_S = 10
const SLOTS = 16_384

/** Whether a server of this version can carry the keys, and how it is. */
export function* health(facts: NodeFacts, connectsCluster: boolean): Generator<Diagnosis> {
  yield* identity(facts, connectsCluster)
  yield* clock(facts)
  yield* load(facts)
  yield* replicas(facts)
}

function* identity({ info, cluster }: NodeFacts, connectsCluster: boolean): Generator<Diagnosis> {
  const valkey = info.get('valkey_version')
  const version = valkey ?? info.get('redis_version')
  const [name, least] = valkey === undefined ? (['Redis', '6.2'] as const) : (['Valkey', '7.2'] as const)
  if (version !== undefined && isBelow(version, least)) {
    const message = `${name} ${version} is too old: ${least} and later have the commands that are needed`
    yield { code: 'version', severity: 'error', message }
  }
  if (info.get('loading') === '1')
    yield {
      code: 'loading',
      severity: 'error',
      message: 'the server is still loading its data, and answers nothing else',
    }
  if (info.get('role') === 'slave') {
    const master = `${info.get('master_host') ?? '?'}:${info.get('master_port') ?? '?'}`
    const message = `this is a replica of ${master}: it refuses writes, and may be behind`
    yield {
      code: 'replica',
      severity: 'error',
      message,
      remedies: [{ kind: 'send', command: ['PING'], to: master }],
    }
  }
  if (cluster === undefined) return
  if (!connectsCluster) {
    const message = 'the server is a node of a cluster, and only this node is looked at'
    yield { code: 'cluster-mode', severity: 'error', message, remedies: [{ kind: 'connect-cluster' }] }
  }
  const assigned = Number(cluster.get('cluster_slots_assigned') ?? SLOTS)
  if (assigned < SLOTS) {
    const message = `${SLOTS - assigned} of ${SLOTS} slots belong to no node: their keys are refused`
    yield {
      code: 'cluster-slots',
      severity: 'error',
      message,
      remedies: [{ kind: 'fix-cluster' }],
    }
  } else if (cluster.get('cluster_state') === 'fail') {
    const message = 'the cluster is down: cluster_state is fail'
    yield {
      code: 'cluster-slots',
      severity: 'error',
      message,
      remedies: [{ kind: 'check-cluster' }],
    }
  }
}

function* clock({ clock: seen }: NodeFacts): Generator<Diagnosis> {
  if (seen === undefined) return
  // What took long to answer was read at some moment of that time.
  const surely = Math.abs(seen.aheadMs) - seen.roundTripMs / 2
  if (surely <= MOST_SKEW_MS) return
  const side = seen.aheadMs > 0 ? 'ahead of' : 'behind'
  const message = `the server’s clock is ${(surely / 1000).toFixed(1)} s ${side} ours: logs and expiry will not agree`
  yield { code: 'clock', severity: 'warning', message, remedies: [{ kind: 'set-clock' }] }
}

function* load({ info, config, slowCalls }: NodeFacts): Generator<Diagnosis> {
  const used = Number(info.get('used_memory') ?? 0)
  const ratio = Number(info.get('mem_fragmentation_ratio') ?? 1)
  if (used > LARGE_BYTES && ratio > 1.5) {
    const message = `the server holds ${ratio} times the memory that it uses: it is fragmented`
    yield configured({ code: 'fragmentation', severity: 'warning', message }, [['activedefrag', 'yes']])
  }
  if (used > LARGE_BYTES && ratio < 0.9) {
    const message = `only ${Math.round(ratio * 100)} % of the server’s memory is in the machine’s: the rest is swapped out, and slow. Give the machine more memory, or the server fewer keys`
    yield { code: 'fragmentation', severity: 'warning', message }
  }
  const rejected = Number(info.get('rejected_connections') ?? 0)
  const most = Number(config.get('maxclients') ?? info.get('maxclients') ?? 0)
  if (rejected > 0) {
    const message = `${rejected} connections were refused since the server started: maxclients is ${most || 'reached'}`
    yield configured({ code: 'rejected', severity: 'warning', message }, [
      ['maxclients', String(2 * most || 10_000)],
    ])
  }
  const connected = Number(info.get('connected_clients') ?? 0)
  if (most > 0 && connected > 0.8 * most) {
    const message = `${connected} of at most ${most} clients are connected`
    yield configured({ code: 'clients', severity: 'warning', message }, [['maxclients', String(2 * most)]])
  }
  if (Number(config.get('timeout') ?? 0) > 0) {
    const message = `connections that are idle for ${config.get('timeout')} s are closed: waiting workers and pools will see errors`
    yield configured({ code: 'idle-timeout', severity: 'warning', message }, [['timeout', '0']])
  }
  if (config.get('tcp-keepalive') === '0') {
    const message = 'connections to clients that have died are never noticed: tcp-keepalive is off'
    yield configured({ code: 'keepalive', severity: 'warning', message }, [['tcp-keepalive', '300']])
  }
  if (slowCalls !== undefined && slowCalls > 0) {
    const full = slowCalls >= Number(config.get('slowlog-max-len') ?? 128)
    const message = `${slowCalls}${full ? ' or more' : ''} calls were slow enough for the slow log`
    yield {
      code: 'slow',
      severity: full ? 'warning' : 'info',
      message,
      remedies: [{ kind: 'send', command: ['SLOWLOG', 'GET', '10'] }],
    }
  }
  const events = config.get('notify-keyspace-events') ?? ''
  if (events !== '') {
    const message = `keyspace events are on ("${events}"): they cost time at each write, for whoever listens`
    yield { code: 'keyspace-events', severity: 'info', message }
  }
}

function* replicas({ info }: NodeFacts): Generator<Diagnosis> {
  for (const [name, value] of info) {
    if (!/^slave\d+$/.test(name)) continue
    const replica = new Map(value.split(',').map((pair) => pair.split('=') as [string, string]))
    const place = `${replica.get('ip') ?? '?'}:${replica.get('port') ?? '?'}`
    const lag = Number(replica.get('lag') ?? 0)
    if (replica.get('state') === 'online' && lag <= MOST_LAG_S) continue
    const message = `the replica ${place} is ${replica.get('state') === 'online' ? `${lag} s behind` : 'not in step yet'}: a failover would lose writes`
    yield {
      code: 'replication',
      severity: 'warning',
      message,
      remedies: [{ kind: 'send', command: ['INFO', 'replication'] }],
    }
  }
}

function isBelow(version: string, least: string): boolean {
  const [a, b] = [version, least].map((each) => each.split('.').map(Number))
  return a![0]! < b![0]! || (a![0] === b![0] && (a![1] ?? 0) < (b![1] ?? 0))
}
