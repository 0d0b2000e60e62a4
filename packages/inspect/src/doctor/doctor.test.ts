import { type Connection, hash, type Schema, string, text } from 'keyspec'
import { fromNodeRedis } from 'keyspec/node-redis'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { createClient } from 'redis'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { diagnose, doctor } from './doctor.ts'
import type { NodeFacts } from './node-facts.ts'
import { serverNeeds, type ServerPolicy } from './server-needs.ts'

const cache = { hit: string('hit:<id>', text, { ttl: '1h' }) }
const state = { total: string('total', text, { ttl: 'forever', reason: 'state' }) }
const kept = { job: string('job:<id>', text, { ttl: '1h', evictable: false }) }
const free = { any: string('any', text, { ttl: 'forever', reason: 'made anew', evictable: true }) }

// A server that fits any cache.
const good = {
  redis_version: '7.0.15',
  role: 'master',
  maxmemory: '1000000',
  used_memory: '10000',
  maxmemory_policy: 'volatile-lru',
}
const quiet = { save: '', appendonly: 'no', bind: '127.0.0.1', port: '6379', 'protected-mode': 'yes' }

interface Given {
  readonly info?: Readonly<Record<string, string>>
  readonly config?: Readonly<Record<string, string>>
  readonly facts?: Partial<NodeFacts>
  readonly server?: ServerPolicy
  readonly isCluster?: boolean
}

function diagnosed(schema: Schema, { info, config, facts, server = {}, isCluster = false }: Given) {
  const given: NodeFacts = {
    info: new Map(Object.entries({ ...good, ...info })),
    config: new Map(Object.entries({ ...quiet, ...config })),
    clock: { aheadMs: 3, roundTripMs: 1 },
    user: 'app',
    userFlags: ['on'],
    mayEval: true,
    slowCalls: 0,
    cluster: undefined,
    unseen: [],
    ...facts,
  }
  return [...diagnose(given, serverNeeds(schema, '', server), isCluster)]
}

test('a server that fits is not spoken of', () => {
  expect(diagnosed(cache, {})).toEqual([])
})

describe('a bound for the memory', () => {
  const boundOf = (info: Record<string, string>, server: ServerPolicy = {}) =>
    diagnosed(cache, { info, server }).find(({ code }) => code === 'maxmemory' || code === 'memory-full')!

  test('is three quarters of what the machine has, where none is declared', () => {
    const { remedies } = boundOf({ maxmemory: '0', total_system_memory: String(8 * 1024 ** 3) })
    expect(remedies).toEqual([{ kind: 'configure', settings: [{ parameter: 'maxmemory', value: '6144mb' }] }])
  })

  test('is not advised below what the server holds: that would evict keys', () => {
    const held = { used_memory: String(1.32 * 1024 ** 3), maxmemory_policy: 'allkeys-lru' }
    for (const [info, server] of [
      [{ maxmemory: '0' }, { maxmemory: '1gb' }],
      [{ maxmemory: '0', total_system_memory: String(1.5 * 1024 ** 3) }, {}],
      [{ maxmemory: String(4 * 1024 ** 3) }, { maxmemory: '1gb' }],
    ] as const) {
      const { message, remedies } = boundOf({ ...held, ...info }, server)
      expect(remedies).toBeUndefined()
      expect(message).toMatch(/holds 1352 MB, so .* would soon evict keys \(allkeys-lru\)/)
    }
    expect(boundOf({ ...held, maxmemory: '0' }).message).toContain('above what is held')
  })

  test('is raised where the machine has more, and only then', () => {
    const full = {
      maxmemory: String(1024 ** 3),
      used_memory: String(1024 ** 3),
      maxmemory_policy: 'noeviction',
    }
    const more = (total: number) =>
      boundOf({ ...full, total_system_memory: String(total * 1024 ** 3) }).remedies
    expect(more(8)).toMatchObject([{ settings: [{ parameter: 'maxmemory', value: String(2 * 1024 ** 3) }] }])
    expect(more(1)).toBeUndefined()
    // Three quarters are above the bound, but not a tenth above what is held.
    expect(more(1.4)).toBeUndefined()
  })

  test('is not raised above what is declared', () => {
    const full = {
      maxmemory: String(1024 ** 3),
      used_memory: String(1024 ** 3),
      maxmemory_policy: 'noeviction',
      total_system_memory: String(8 * 1024 ** 3),
    }
    expect(boundOf(full, { maxmemory: '1gb' }).remedies).toBeUndefined()
    expect(boundOf(full, { maxmemory: '1200mb' }).remedies).toMatchObject([
      { settings: [{ parameter: 'maxmemory', value: String(1200 * 1024 ** 2) }] },
    ])
  })
})

describe('says what does not fit', () => {
  test.each<[string, Schema, Given, string, RegExp]>([
    ['an old Redis', cache, { info: { redis_version: '6.0.16' } }, 'error version', /6\.2 and later/],
    ['an old Valkey', cache, { info: { valkey_version: '7.1.0' } }, 'error version', /Valkey 7\.1\.0/],
    [
      'a replica',
      cache,
      { info: { role: 'slave', master_host: 'a', master_port: '1' } },
      'error replica',
      /a:1/,
    ],
    ['a server that loads', cache, { info: { loading: '1' } }, 'error loading', /loading/],
    ['no bound for a cache', cache, { info: { maxmemory: '0' } }, 'warning maxmemory', /hit may grow/],
    [
      'no bound where one is declared',
      cache,
      { info: { maxmemory: '0' }, server: { maxmemory: '1mb' } },
      'error maxmemory',
      /declared: 1mb/,
    ],
    [
      'a wider bound than declared',
      cache,
      { info: { maxmemory: '2000000' }, server: { maxmemory: '1mb' } },
      'error maxmemory',
      /at most 1mb/,
    ],
    [
      'a policy that evicts state',
      { ...cache, ...state },
      { info: { maxmemory_policy: 'allkeys-lru' }, config: { appendonly: 'yes' } },
      'error evicts-kept',
      /total$/,
    ],
    [
      'a policy that evicts what expires and must stay',
      { ...cache, ...kept },
      { config: { appendonly: 'yes' } },
      'error evicts-kept',
      /job$/,
    ],
    [
      'such a policy, though nothing is full yet',
      { ...kept },
      { info: { maxmemory: '0' }, config: { appendonly: 'yes' } },
      'warning evicts-kept',
      /as soon as maxmemory is set/,
    ],
    [
      'a policy that refuses writes to a cache',
      cache,
      { info: { maxmemory_policy: 'noeviction' } },
      'warning evicts-nothing',
      /hit may be evicted/,
    ],
    ['a policy that finds nothing to evict', free, {}, 'warning evicts-nothing', /behaves as noeviction/],
    [
      'such a policy where nothing may be evicted',
      state,
      { config: { appendonly: 'yes' } },
      'info evicts-nothing',
      /behaves as noeviction/,
    ],
    [
      'another policy than declared',
      cache,
      { server: { maxmemoryPolicy: 'allkeys-lfu' } },
      'error policy',
      /volatile-lru, declared: allkeys-lfu/,
    ],
    [
      'memory that is nearly full',
      { ...state },
      { info: { used_memory: '950000', maxmemory_policy: 'noeviction' }, config: { appendonly: 'yes' } },
      'error memory-full',
      /95 %/,
    ],
    ['evictions of a cache', cache, { info: { evicted_keys: '7' } }, 'info evicted', /7 keys/],
    [
      'evictions beside state',
      { ...cache, ...state },
      { info: { evicted_keys: '7' }, config: { appendonly: 'yes' } },
      'warning evicted',
      /7 keys/,
    ],
    [
      'snapshots of a cache',
      cache,
      { config: { save: '60 1' } },
      'warning persistence',
      /snapshots.*is cache/,
    ],
    [
      'a file where none is declared',
      cache,
      { config: { appendonly: 'yes' }, server: { persistence: 'none' } },
      'error persistence',
      /append-only file, declared: nothing/,
    ],
    ['state that is not written', { ...cache, ...state }, {}, 'warning persistence', /loses.*total/],
    [
      'nothing written where it is required',
      cache,
      { server: { persistence: 'required' } },
      'error persistence',
      /declared: what is there/,
    ],
    [
      'a snapshot that failed',
      cache,
      { info: { rdb_last_bgsave_status: 'err' } },
      'error save-failed',
      /snapshot/,
    ],
    [
      'a server that anybody may use',
      cache,
      {
        config: { bind: '* -::*', 'protected-mode': 'no' },
        facts: { user: 'default', userFlags: ['on', 'nopass'] },
      },
      'warning open-to-all',
      /anybody/,
    ],
    [
      'a user that may run no script',
      cache,
      { facts: { mayEval: false } },
      'error permission',
      /app may not run/,
    ],
    [
      'a clock that is wrong',
      cache,
      { facts: { clock: { aheadMs: -5000, roundTripMs: 2 } } },
      'warning clock',
      /5\.0 s behind/,
    ],
    ['events', cache, { config: { 'notify-keyspace-events': 'KEA' } }, 'info keyspace-events', /KEA/],
    [
      'fragmentation',
      cache,
      { info: { used_memory: '100000000', maxmemory: '900000000', mem_fragmentation_ratio: '1.8' } },
      'warning fragmentation',
      /1\.8 times/,
    ],
    [
      'swapping',
      cache,
      { info: { used_memory: '100000000', maxmemory: '900000000', mem_fragmentation_ratio: '0.5' } },
      'warning fragmentation',
      /50 %/,
    ],
    [
      'refused connections',
      cache,
      { info: { rejected_connections: '3' } },
      'warning rejected',
      /3 connections/,
    ],
    [
      'too many clients',
      cache,
      { info: { connected_clients: '90' }, config: { maxclients: '100' } },
      'warning clients',
      /90 of at most 100/,
    ],
    [
      'idle connections that are closed',
      cache,
      { config: { timeout: '30' } },
      'warning idle-timeout',
      /30 s/,
    ],
    ['no keepalive', cache, { config: { 'tcp-keepalive': '0' } }, 'warning keepalive', /never noticed/],
    ['slow calls', cache, { facts: { slowCalls: 3 } }, 'info slow', /^3 calls/],
    ['a full slow log', cache, { facts: { slowCalls: 128 } }, 'warning slow', /^128 or more/],
    [
      'a replica that lags',
      cache,
      { info: { slave0: 'ip=10.0.0.2,port=6379,state=online,offset=1,lag=60' } },
      'warning replication',
      /10\.0\.0\.2:6379 is 60 s behind/,
    ],
    [
      'a node of a cluster alone',
      cache,
      { facts: { cluster: new Map([['cluster_state', 'ok']]) } },
      'error cluster-mode',
      /only this node is looked at/,
    ],
    [
      'slots that nobody has',
      cache,
      { facts: { cluster: new Map([['cluster_slots_assigned', '16000']]) }, isCluster: true },
      'error cluster-slots',
      /384 of 16384/,
    ],
    [
      'what could not be asked',
      cache,
      { facts: { unseen: [{ command: 'CONFIG GET save', words: 'NOPERM' }] } },
      'info unseen',
      /CONFIG GET save could not be asked: NOPERM/,
    ],
  ])('%s', (_what, schema, given, expected, said) => {
    const found = diagnosed(schema, given)
    expect(found.map(({ severity, code }) => `${severity} ${code}`)).toEqual([expected])
    expect(found[0]!.message).toMatch(said)
  })
})

test('where it cannot see the configuration it does not say that nothing is written', () => {
  const facts = { config: new Map<string, string>() }
  expect(diagnosed({ ...cache, ...state }, { facts })).toEqual([])
})

describe('a real server', () => {
  let redis: TemporaryRedis
  let connection: Connection
  const schema = {
    session: string('session:<id>', text, { ttl: '1h' }),
    profile: hash('profile:<id>', { name: text }, { ttl: '1h' }),
  }
  const found = async (given: Connection = connection, server?: ServerPolicy) =>
    (await all(doctor(schema, given, { prefix: 'shop:', server }))).map((each) => ({
      ...each,
      title: `${each.severity} ${each.code}`,
    }))

  beforeAll(async () => {
    redis = await startRedis({ config: { maxmemory: '100mb', 'maxmemory-policy': 'volatile-lru' } })
    ;({ connection } = await connected(redis))
  })

  async function as(user: string, ...rules: string[]): Promise<Connection> {
    await redis.command('ACL', 'SETUSER', user, 'reset', 'on', '>secret', ...rules)
    const client = createClient({
      socket: { path: redis.socket, tls: false },
      username: user,
      password: 'secret',
    })
    client.on('error', () => {})
    await client.connect()
    onTestFinished(() => client.destroy())
    return fromNodeRedis(client)
  }

  test('that fits has nothing but perhaps slow calls of its own start', async () => {
    expect((await found()).filter(({ severity }) => severity !== 'info')).toEqual([])
  })

  test('is fixed by the settings that a diagnosis gives', async () => {
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    const declared = { persistence: 'none', maxmemory: '50mb', maxmemoryPolicy: 'volatile-ttl' } as const
    await redis.command('CONFIG', 'SET', 'save', '900 1')
    const before = (await found(connection, declared)).filter(({ severity }) => severity === 'error')
    expect(before.map(({ code }) => code)).toEqual(['maxmemory', 'policy', 'persistence'])
    const settings = before
      .flatMap(({ remedies = [] }) => remedies)
      .flatMap((remedy) => (remedy.kind === 'configure' ? remedy.settings : []))
    for (const { parameter, value } of settings)
      expect(await redis.command('CONFIG', 'SET', parameter, value)).toBe('OK')
    expect((await found(connection, declared)).filter(({ severity }) => severity !== 'info')).toEqual([])
  })

  test('lets a user that may ask nothing see what it can, and says what it could not', async () => {
    const poor = await as('poor', '+@all', '-@dangerous', '-@admin', '~shop:*')
    const titles = (await found(poor)).map(({ title }) => title)
    expect(titles).toContain('info unseen')
    expect(titles.filter((title) => title.startsWith('error'))).toEqual([])
  })

  test('tells what a user may not do that an entry needs, and the rule that gives it', async () => {
    const app = await as('app', '+@all', '-hset', '-eval', '-evalsha', '~shop:*')
    const errors = (await found(app)).filter(({ severity }) => severity === 'error')
    expect(errors.flatMap(({ remedies }) => remedies)).toEqual([
      { kind: 'allow', user: 'app', rules: ['+eval', '+evalsha'] },
      { kind: 'allow', user: 'app', rules: ['+hset'] },
    ])
    expect(errors[1]).toMatchObject({ entries: ['profile'] })
    await redis.command('ACL', 'SETUSER', 'app', '+eval', '+evalsha', '+hset')
    expect((await found(app)).filter(({ severity }) => severity === 'error')).toEqual([])
    const other = await as('other', '+@all', '~elsewhere:*')
    expect((await found(other)).flatMap(({ remedies }) => remedies)).toContainEqual({
      kind: 'allow',
      user: 'other',
      rules: ['~shop:session:*', '~shop:profile:*'],
    })
  })

  test('that became a replica is an error', async () => {
    await redis.command('REPLICAOF', '127.0.0.1', '1')
    expect((await found()).map(({ title }) => title)).toContain('error replica')
  })
})
