import {
  type Connection,
  counter,
  float32,
  hash,
  integer,
  json,
  list,
  mount,
  open,
  set,
  sortedSet,
  stream,
  string,
  text,
} from 'keyspec'
import { fromNodeRedis } from 'keyspec/node-redis'
import { cache, external, fixedWindow, lock, slidingWindow, workQueue } from 'keyspec/recipes'
import type { TemporaryRedis } from 'keyspec/testing'
import { createClient } from 'redis'
import * as v from 'valibot'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { audit, type AuditResult, type AuditOptions } from './audit.ts'
import type { Finding } from './finding.ts'

const schema = {
  session: string('session:<id>', json(v.object({ user: v.string() })), {
    ttl: '1h',
    jitter: 0.2,
    renamedFrom: { pattern: 'sess:<id>', phase: 2 },
  }),
  profile: hash('profile:<id>', { name: text, visits: integer }, { ttl: '1d', budget: '1kb' }),
  points: hash('points:<id>', { '*': integer }, { ttl: '1d' }),
  viewed: list('viewed:<id>', integer, { ttl: '1d' }),
  tags: set('tags:<id>', integer, { ttl: '1d' }),
  ranking: sortedSet('ranking:<id>', integer, { ttl: '1d' }),
  events: stream('events', { at: integer }, { ttl: 'forever', reason: 'read by the accounts' }),
  vector: string('vector:<id>', float32(4), { ttl: '1d' }),
  stock: counter('stock:<id>', { ttl: 'forever', reason: 'counted on' }),
  requests: slidingWindow('rate:<id>', { per: '1m', limit: 5, form: 'compact' }),
  hits: fixedWindow('hits:<id>', { per: '1m', limit: 5 }),
  exact: slidingWindow('exact:<id>', { per: '1m', limit: 5 }),
  page: cache('page:<path*>', text, { ttl: '10m' }),
  guard: lock('guard:<id>', { ttl: '10s', fence: 'fence:<id>' }),
  mail: mount('mail:', { jobs: workQueue('jobs', json(v.object({ to: v.string() })), { lease: '30s' }) }),
  cron: external('cron:<name>', {
    by: 'cron',
    keys: ([name]) => (name === 'lock' ? { type: 'string', about: 'its lock' } : undefined),
    about: 'what cron keeps',
  }),
}

let redis: TemporaryRedis
let connection: Connection

beforeAll(async () => {
  ;({ redis, connection } = await connected())
})

beforeEach(async () => {
  await redis.command('FLUSHALL')
  await redis.command('CONFIG', 'SET', 'maxmemory', '0')
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
})

async function audited(
  options: AuditOptions = {},
  over = connection,
): Promise<{ findings: Finding[]; so: AuditResult }> {
  const auditing = audit(schema, over, { maxLoad: 1, ...options })
  const findings = (await all(auditing)).flatMap((step) => step.findings)
  return { findings, so: await auditing }
}

/** What was found, as short as can be: `code pattern count`. */
const brief = (findings: readonly Finding[]) =>
  findings.map(({ code, pattern, count }) => `${code} ${pattern} ${count}`).sort()

test('finds nothing wrong with what the library itself writes', async () => {
  const keys = open(schema, connection, { prefix: 'app:' })
  await keys.session({ id: '1' }).set({ user: 'ann' })
  await keys.profile({ id: '1' }).set({ name: 'Ann', visits: 1 })
  await keys.points({ id: '1' }).set({ a: 1, b: 2 })
  await keys.viewed({ id: '1' }).pushBack(1, 2)
  await keys.tags({ id: '1' }).add(1, 2)
  await keys.ranking({ id: '1' }).add({ value: 1, score: 5 })
  await keys.events().add({ at: 5 })
  await keys.vector({ id: '1' }).set([1, 2, 3, 4])
  await keys.stock({ id: '1' }).increment()
  await keys.requests({ id: '1' }).take()
  await keys.hits({ id: '1' }).take()
  await keys.exact({ id: '1' }).take()
  await keys.page({ path: 'a/b:c' }).getOrLoad(() => 'page')
  await keys.guard({ id: '1' }).acquire()
  await keys.mail.jobs().add([{ to: 'ann@example.org' }, { to: 'bob@example.org' }])
  await keys.mail.jobs().take('w1')
  await redis.command('SET', 'app:cron:lock', 'x')
  await redis.command('SET', 'elsewhere', 'x')

  const { findings, so } = await audited({ prefix: 'app:' })
  expect(findings).toEqual([])
  expect(so).toMatchObject({ notDecoded: 0, eviction: { keys: 'none' } })
  const size = (await redis.command('DBSIZE')) as number
  expect(so.keys).toBe(size - 1)
  // One of them says which phase a rename is at.
  // What cron and others keep is not ours to read, and no text can be wrong: rate, exact, page, guard, holders, deadlines.
  expect(so.decoded).toBe(size - 3 - 6)
})

test('refuses a schema in which a key could belong to two entries, instead of finding nothing', async () => {
  const both = {
    user: string('user:<id>', text, { ttl: '1h' }),
    path: string('user:<path*>', integer, { ttl: '1h' }),
  }
  await expect(audit(both, connection)).rejects.toMatchObject({
    code: 'E_SCHEMA',
    message: expect.stringContaining('could both own the key'),
  })
})

describe('finds', () => {
  const session = '{"user":"ann"}'
  test.each<[string, (string | number)[][], string[]]>([
    [
      'a type that is another',
      [
        ['RPUSH', 'session:1', 'a', 'PX'],
        ['PEXPIRE', 'session:1', 1000],
      ],
      ['wrong-type session:<id> 1'],
    ],
    [
      'a key that should expire and does not',
      [
        ['SET', 'session:1', session],
        ['SET', 'session:2', session],
      ],
      ['no-ttl session:<id> 2'],
    ],
    [
      'a time to live that is too long',
      [['SET', 'session:1', session, 'EX', 3601]],
      ['ttl-too-long session:<id> 1'],
    ],
    [
      'a key that should live forever and expires',
      [
        ['SET', 'stock:1', 5, 'EX', 90],
        ['SET', 'stock:2', 5],
      ],
      ['expires stock:<id> 1'],
    ],
    ['an old name', [['SET', 'sess:1', session, 'EX', 3600]], ['legacy-name sess:<id> 1']],
    [
      'more memory than its budget',
      [
        ['HSET', 'profile:1', 'name', 'x'.repeat(2000)],
        ['EXPIRE', 'profile:1', 60],
      ],
      ['over-budget profile:<id> 1'],
    ],
    [
      'a string that its codec cannot read',
      [['SET', 'session:1', '{"user":5}', 'EX', 60]],
      ['undecodable session:<id> 1'],
    ],
    [
      'a field that its codec cannot read',
      [
        ['HSET', 'profile:1', 'visits', 'many'],
        ['EXPIRE', 'profile:1', 60],
      ],
      ['undecodable profile:<id> 1'],
    ],
    [
      'any field that its codec cannot read',
      [
        ['HSET', 'points:1', 'ann', 'many'],
        ['EXPIRE', 'points:1', 60],
      ],
      ['undecodable points:<id> 1'],
    ],
    [
      'a list element',
      [
        ['RPUSH', 'viewed:1', 1, 'x'],
        ['EXPIRE', 'viewed:1', 60],
      ],
      ['undecodable viewed:<id> 1'],
    ],
    [
      'a member of a set',
      [
        ['SADD', 'tags:1', 1, 'x'],
        ['EXPIRE', 'tags:1', 60],
      ],
      ['undecodable tags:<id> 1'],
    ],
    [
      'a member of a sorted set',
      [
        ['ZADD', 'ranking:1', 1, 'x'],
        ['EXPIRE', 'ranking:1', 60],
      ],
      ['undecodable ranking:<id> 1'],
    ],
    ['a field of a stream', [['XADD', 'events', '*', 'at', 'noon']], ['undecodable events 1']],
    ['a vector of another length', [['SET', 'vector:1', 'abc', 'EX', 60]], ['undecodable vector:<id> 1']],
    ['what another program is not known to keep', [['SET', 'cron:x', 1]], ['external-shape cron:<name> 1']],
    [
      'keys of no entry, by the patterns they seem to have',
      [
        ['SET', 'cart:1', 1],
        ['SET', 'cart:2', 1],
        ['SET', 'old:2024-01-01', 1],
        ['SET', '', 1],
      ],
      ['unknown-key  1', 'unknown-key cart:<n> 2', 'unknown-key old:<date> 1'],
    ],
  ])('%s', async (_, commands, expected) => {
    for (const command of commands) await redis.command(...command)
    expect(brief((await audited()).findings)).toEqual(expected)
  })

  test('what the server would evict and must not, once for each entry', async () => {
    await redis.command('CONFIG', 'SET', 'maxmemory', '1gb')
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru')
    await redis.command('SET', 'stock:1', '1')
    await redis.command('SET', 'stock:2', '1', 'EX', '60')
    await redis.command('SET', 'session:1', session, 'EX', '60')
    await redis.command('SET', 'cron:lock', '1', 'EX', '60')
    const under = async (policy: string) => {
      await redis.command('CONFIG', 'SET', 'maxmemory-policy', policy)
      const { findings } = await audited()
      return findings
        .filter(({ code }) => code !== 'expires')
        .map(({ code, entry, detail, count }) => [code, entry, detail, count])
    }
    expect(await under('volatile-lru')).toEqual([['evictable', 'stock', 'volatile-lru', 1]])
    expect(await under('allkeys-lfu')).toEqual([
      ['evictable', 'stock', 'allkeys-lfu', 2],
      ['evictable', 'cron', 'allkeys-lfu', 1],
    ])
    expect(await under('noeviction')).toEqual([])
  })
})

test('never shows a value, nor the words of an error about it', async () => {
  const secret = 'hunter2'
  await redis.command('SET', 'session:1', secret)
  await redis.command('SET', 'session:2', JSON.stringify({ user: { secret } }), 'EX', '60')
  await redis.command('HSET', 'profile:1', 'visits', secret)
  await redis.command('HSET', 'points:1', secret, secret)
  await redis.command('RPUSH', 'viewed:1', secret)
  await redis.command('SET', 'stock:1', secret)
  for (const each of [true, false]) {
    const { findings } = await audited({ each })
    expect(findings.filter(({ code }) => code === 'undecodable').length).toBeGreaterThanOrEqual(5)
    expect(JSON.stringify(findings)).not.toContain(secret)
  }
})

test('says how bad the worst of them is, shows three, and says what to do', async () => {
  for (const hours of [2, 5, 3, 4])
    await redis.command('SET', `session:${hours}`, '{"user":""}', 'EX', hours * 3600)
  const { findings } = await audited()
  expect(findings).toEqual([
    {
      code: 'ttl-too-long',
      severity: 'warning',
      entry: 'session',
      pattern: 'session:<id>',
      detail: undefined,
      count: 4,
      samples: [expect.any(String), expect.any(String), expect.any(String)],
      message: 'has up to 5h to live, declared is 1h',
      remedy: { kind: 'cap-ttl', entry: 'session' },
    },
  ])
})

test('what it says to do about a key that expires lets the key live forever', async () => {
  await redis.command('SET', 'stock:1', 5, 'EX', 90)
  const [finding] = (await audited()).findings
  expect(finding).toMatchObject({
    severity: 'error',
    message: 'expires, within 1.5m at the latest, declared is forever',
    remedy: { kind: 'persist', key: 'stock:1' },
  })
  await redis.command('PERSIST', 'stock:1')
  expect((await audited()).findings).toEqual([])
})

test('one by one, each key has a finding of its own', async () => {
  await redis.command('SET', 'session:1', 'x')
  await redis.command('SET', 'cart:1', 'x')
  const { findings } = await audited({ each: true })
  expect(findings.map(({ code, pattern, samples }) => [code, pattern, samples]).sort()).toEqual([
    ['no-ttl', 'session:<id>', ['session:1']],
    ['undecodable', 'session:<id>', ['session:1']],
    ['unknown-key', 'cart:<n>', ['cart:1']],
  ])
})

test('does not read values where it is not to, nor those that are too large', async () => {
  await redis.command('SET', 'session:1', 'x'.repeat(100), 'EX', '60')
  await redis.command('RPUSH', 'viewed:1', '1', 'x'.repeat(100), '2')
  await redis.command('EXPIRE', 'viewed:1', '60')
  expect((await audited({ values: false })).so).toMatchObject({ keys: 2, decoded: 0, notDecoded: 0 })
  const { findings, so } = await audited({ limitBytes: 50 })
  expect(findings).toEqual([])
  expect(so).toMatchObject({ decoded: 2, notDecoded: 2 })
})

test('leaves values alone whose codecs read whatever is stored', async () => {
  await redis.command('CONFIG', 'RESETSTAT')
  await redis.command('SET', 'app:page:1', Buffer.from([0xff]), 'EX', '60')
  await redis.command('SET', 'app:vector:1', 'x', 'EX', '60')
  const { findings, so } = await audited({ prefix: 'app:' })
  expect(brief(findings)).toEqual(['undecodable app:vector:<id> 1'])
  expect(so).toMatchObject({ keys: 2, decoded: 1, notDecoded: 0 })
  const stats = String(await redis.command('INFO', 'commandstats'))
  expect(stats).toMatch(/cmdstat_getrange:calls=1,/)
})

test('finds the same over many steps of few bytes', async () => {
  for (let id = 0; id < 300; id += 1) void redis.command('SET', `session:${id}`, 'x'.repeat(3000), 'EX', '60')
  await redis.command('PING')
  const { findings, so } = await audited({ count: 500 })
  expect(brief(findings)).toEqual(['undecodable session:<id> 300'])
  expect(so).toMatchObject({ keys: 300, decoded: 300 })
})

test('a user who may run no scripts and ask for nothing of the server is told the same', async () => {
  const words = ['on', '>secret', '~*', '+@read', '+@keyspace', '+client', '-@scripting', '-@dangerous']
  await redis.command('ACL', 'SETUSER', 'reader', ...words)
  const client = createClient({
    socket: { path: redis.socket, tls: false },
    username: 'reader',
    password: 'secret',
  })
  await client.connect()
  try {
    await redis.command('SET', 'session:1', 'x', 'EX', '60')
    await redis.command('SET', 'session:2', 'x'.repeat(100), 'EX', '60')
    await redis.command('HSET', 'profile:1', 'visits', 'many', 'name', 'x'.repeat(100))
    await redis.command('RPUSH', 'viewed:1', 'x')
    await redis.command('SADD', 'tags:1', 'x')
    await redis.command('ZADD', 'ranking:1', '1', 'x')
    await redis.command('XADD', 'events', '*', 'at', 'noon')
    const [reader, root] = [
      await audited({ limitBytes: 50 }, fromNodeRedis(client)),
      await audited({ limitBytes: 50 }),
    ]
    expect(reader.findings).toEqual(root.findings)
    expect(root.findings.filter(({ code }) => code === 'undecodable')).toHaveLength(6)
    expect(reader.so).toEqual({ ...root.so, eviction: undefined })
  } finally {
    client.destroy()
  }
})

test('keys that go or change between two steps are neither found wrong nor missed', async () => {
  for (let id = 0; id < 400; id += 1) void redis.command('SET', `session:${id}`, '{"user":""}', 'EX', '60')
  await redis.command('SET', 'session:bad', 'x', 'EX', '60')
  const meddling: Connection = {
    ...connection,
    masters: async () => [meddling],
    async send(command, shape) {
      // Between a step of the walk and the reading of its values.
      if (String(command[0]).startsWith('EVAL') && command[2] !== '0') {
        const [gone, other] = command
          .slice(3)
          .map(String)
          .filter((name) => name.startsWith('session:') && name !== 'session:bad')
        await redis.command('UNLINK', gone ?? '')
        await redis.command('UNLINK', other ?? '')
        await redis.command('SADD', other ?? 'tags:1', '1')
      }
      return connection.send(command, shape)
    },
  }
  const { findings } = await audited({ count: 20 }, meddling)
  expect(brief(findings)).toContain('undecodable session:<id> 1')
  expect(findings.filter(({ code }) => code === 'undecodable')).toHaveLength(1)
})

test('stops where it is when it is told to', async () => {
  const stop = new AbortController()
  stop.abort()
  await expect(all(audit(schema, connection, { signal: stop.signal }))).rejects.toThrow(/abort/)
})
