import { list, string, text } from 'keyspec'
import { external } from 'keyspec/recipes'
import { unique } from 'keyspec/testing'
import { expect, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { cleanupKeys, type CleanupOptions, keepsIdleTimes } from './cleanup.ts'
import { isRedis6 } from '../../../../test-support/server-version.ts'

const HOUR = 3_600_000
const schema = {
  page: string('page:<id>', text, { ttl: '1h', jitter: 0.5, renamedFrom: { pattern: 'p:<id>', phase: 2 } }),
  seen: list('seen:<id>', text, { ttl: '2h', renew: 'creation' }),
  stock: string('stock:<id>', text, { ttl: 'forever', reason: 'it counts' }),
  jobs: external('bull:<id>', { by: 'BullMQ', keys: 'string', about: 'Jobs' }),
}

const { redis, connection } = await connected()
const command = (...words: [string, ...(string | number)[]]) => redis.command(...words)
const run = async (prefix: string, options: CleanupOptions = {}, over = connection) => {
  const found = (await all(cleanupKeys(schema, over, { prefix, maxLoad: 1, ...options }))).flatMap(
    ({ violations }) => violations,
  )
  return found
    .map(({ name, problem, fixed, ageUnknown }) =>
      [name.slice(prefix.length), problem, fixed ? 'fixed' : '', ageUnknown ? 'age?' : ''].join(' ').trim(),
    )
    .sort()
}

/** A keyspace of its own with one key of each kind of trouble. */
async function troubled(): Promise<string> {
  const prefix = `${unique()}:`
  await command('SET', `${prefix}page:fine`, 'x', 'PX', HOUR)
  await command('SET', `${prefix}page:bare`, 'x')
  await command('SET', `${prefix}page:long`, 'x', 'PX', 3 * HOUR)
  await command('SET', `${prefix}p:fine`, 'x', 'PX', HOUR)
  await command('SET', `${prefix}p:bare2`, 'x')
  await command('RPUSH', `${prefix}seen:bare`, 'x')
  await command('RPUSH', `${prefix}page:list`, 'x')
  for (const name of ['stock:1', 'bull:1', 'stray']) await command('SET', prefix + name, 'x')
  return prefix
}

const troubles = [
  'p:bare2 no-ttl',
  'p:fine two-names',
  'page:bare no-ttl',
  'page:list other-type',
  'page:long ttl-too-long',
  'seen:bare no-ttl  age?',
]

test('finds what is past its policy, and changes nothing', async () => {
  const prefix = await troubled()
  expect(await run(prefix)).toEqual(troubles)
  expect(await run(prefix)).toEqual(troubles)
  expect(await run(prefix, { entries: ['seen'] })).toEqual(['seen:bare no-ttl  age?'])
})

test('repairs with the declared time to live and its jitter, and lowers what is above it when told', async () => {
  const prefix = await troubled()
  for (let id = 0; id < 50; id += 1) await command('SET', `${prefix}page:${id}`, 'x')
  await run(prefix, { repair: true })
  const ttls = await Promise.all(
    Array.from({ length: 50 }, async (_, id) => Number(await command('PTTL', `${prefix}page:${id}`))),
  )
  for (const ttl of ttls) expect(ttl > HOUR / 2 - 60_000 && ttl <= HOUR).toBe(true)
  expect(new Set(ttls).size).toBeGreaterThan(10)
  expect(await command('PTTL', `${prefix}page:long`)).toBeGreaterThan(2 * HOUR)
  expect(await command('PTTL', `${prefix}seen:bare`)).toBeGreaterThan(HOUR)
  for (const name of ['page:list', 'stock:1', 'bull:1', 'stray'])
    expect(await command('PTTL', prefix + name)).toBe(-1)
  expect(await run(prefix)).toEqual(['p:fine two-names', 'page:list other-type', 'page:long ttl-too-long'])
  expect(await run(prefix, { cap: true })).toContain('page:long ttl-too-long fixed')
  expect(await command('PTTL', `${prefix}page:long`)).toBeLessThanOrEqual(HOUR)
})

test('a key that gets its time to live, goes, or changes type before it is repaired is left as it is', async () => {
  const prefix = await troubled()
  for (const name of ['page:given', 'page:gone', 'page:changed']) await command('SET', prefix + name, 'x')
  // What others do between the look and the step that repairs.
  const meddled = {
    ...connection,
    send: async (...call: Parameters<typeof connection.send>) => {
      if (
        String(call[0][0]).startsWith('EVAL') &&
        String(call[0][1]).length !== 0 &&
        Number(call[0][2]) > 0
      ) {
        await command('PEXPIRE', `${prefix}page:given`, 5 * HOUR)
        await command('UNLINK', `${prefix}page:gone`, `${prefix}page:changed`)
        await command('RPUSH', `${prefix}page:changed`, 'x')
      }
      return connection.send(...call)
    },
    masters: () => connection.masters(),
  }
  const found = await run(prefix, { repair: true }, meddled)
  expect(found).toContain('page:bare no-ttl fixed')
  for (const name of ['given', 'gone', 'changed']) expect(found).toContain(`page:${name} no-ttl`)
  expect(await command('PTTL', `${prefix}page:given`)).toBeGreaterThan(4 * HOUR)
  expect(await command('EXISTS', `${prefix}page:gone`)).toBe(0)
  expect(await command('PTTL', `${prefix}page:changed`)).toBe(-1)
})

// Redis 6.2 takes an idle time only as far back as its LRU clock has run since it last wrapped (every 194 days).
test.skipIf(isRedis6)(
  'deletes what nobody has touched for long, and not what somebody touches at the last moment (needs Redis 7 or Valkey)',
  async () => {
    const prefix = `${unique()}:`
    const dump = (await redis.commandBuffer('DUMP', await made('source'))) as Buffer
    async function made(name: string): Promise<string> {
      await command('SET', `${prefix}${name}`, 'x')
      return `${prefix}${name}`
    }
    const DAYS = 86_400
    for (const [name, idle] of [
      ['page:old', 40 * DAYS],
      ['page:touched', 40 * DAYS],
      ['page:young', 20 * DAYS],
      ['stock:old', 40 * DAYS],
      ['bull:old', 40 * DAYS],
      ['stray', 40 * DAYS],
    ] as const)
      await redis.command('RESTORE', prefix + name, HOUR, dump, 'IDLETIME', idle)
    const idleMs = 30 * DAYS * 1000
    expect(await run(prefix, { idleMs })).toEqual(['page:old idle', 'page:touched idle'])
    expect(await run(prefix)).toEqual([])
    const touching = {
      ...connection,
      send: async (...call: Parameters<typeof connection.send>) => {
        await command('TOUCH', `${prefix}page:touched`)
        return connection.send(...call)
      },
      masters: () => connection.masters(),
    }
    const found = await run(prefix, { idleMs, eraseIdle: true }, touching)
    expect(found).toEqual(['page:old idle fixed', 'page:touched idle'])
    expect(await command('EXISTS', `${prefix}page:old`)).toBe(0)
    for (const name of ['page:touched', 'page:young', 'stock:old', 'bull:old', 'stray'])
      expect(await command('EXISTS', prefix + name)).toBe(1)
  },
)

test('says where no server knows how long a key was idle', async () => {
  expect(await keepsIdleTimes(connection)).toBe(true)
  await command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lfu')
  expect(await keepsIdleTimes(connection)).toBe(false)
  await command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
})
