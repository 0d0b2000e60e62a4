import { type Connection, list, string, text } from 'keyspec'
import type { TemporaryRedis } from 'keyspec/testing'
import { beforeAll, expect, test } from 'vitest'
import { connected } from '../../../../test-support/connected.ts'
import type { Estimate } from './estimate.ts'
import { stats, type StatsOptions } from './stats.ts'
import { isRedis6 } from '../../../../test-support/server-version.ts'

const schema = {
  session: string('session:<id>', text, { ttl: '1h', renamedFrom: { pattern: 'sess:<id>', phase: 2 } }),
  page: string('page:<path*>', text, { ttl: '1h' }),
  viewed: list('viewed:<id>', text, { ttl: '1h' }),
}

let redis: TemporaryRedis
let connection: Connection

beforeAll(async () => {
  ;({ redis, connection } = await connected())
  const lines = [
    "for at = 1, 3000 do redis.call('SET', 'app:session:' .. at, string.rep('x', at % 97), 'EX', 60 + at) end",
    "for at = 1, 800 do redis.call('SET', 'app:page:' .. at % 8 .. '/' .. at, string.rep('x', at % 397)) end",
    "for at = 1, 200 do redis.call('RPUSH', 'app:viewed:' .. at, 'a', 'b') redis.call('EXPIRE', 'app:viewed:' .. at, 90000) end",
    "redis.call('SET', 'app:sess:old', 'x', 'EX', 30)",
    "redis.call('SET', 'app:stray', string.rep('x', 100000))",
    "redis.call('SET', 'elsewhere', 'x')",
  ]
  await redis.command('EVAL', lines.join('\n'), '0')
})

const counted = (options: StatsOptions = {}) =>
  stats(schema, connection, { prefix: 'app:', maxLoad: 1, ...options })

const exactly = (value: number): Estimate => ({ value, low: value, high: value })

async function usedBy(...names: string[]): Promise<number> {
  const sizes = await Promise.all(names.map((name) => redis.command('MEMORY', 'USAGE', name)))
  return sizes.reduce<number>((sum, size) => sum + (size as number), 0)
}

test('counts a server whole by entry, as its own commands do', async () => {
  const { exact, looked, all, groups, biggest } = await counted({ count: 500 })
  expect([exact, looked]).toEqual([true, 4002])
  expect(groups.map(({ name, keys }) => [name, keys])).toEqual([
    ['session', exactly(3001)],
    ['page', exactly(800)],
    [undefined, exactly(1)],
    ['viewed', exactly(200)],
  ])
  const viewed = groups[3]!
  expect(viewed.bytes).toEqual(
    exactly(await usedBy(...Array.from({ length: 200 }, (_, at) => `app:viewed:${at + 1}`))),
  )
  expect(viewed).toMatchObject({
    types: [{ name: 'list', keys: exactly(200), share: exactly(1) }],
    encodings: [{ keys: exactly(200) }],
    forever: { keys: exactly(0) },
  })
  const full = (buckets: readonly { below: number | undefined; keys: Estimate }[]) =>
    buckets.flatMap(({ below, keys }) => (keys.value === 0 ? [] : [[below, keys.value]]))
  expect(full(viewed.ttl)).toEqual([[604_800_000, 200]])
  expect(full(viewed.idle)).toEqual([[60_000, 200]])
  expect(groups[1]!.forever.share).toEqual(exactly(1))
  expect(full(groups[2]!.sizes)).toEqual([[2 ** 18, 1]])
  expect(all.share).toEqual(exactly(1))
  expect(groups.reduce((sum, { bytes }) => sum + bytes.value, 0)).toBe(all.bytes.value)
  expect(biggest).toHaveLength(10)
  expect(biggest[0]).toEqual({
    key: Buffer.from('app:stray'),
    type: 'string',
    bytes: await usedBy('app:stray'),
    entry: undefined,
  })
  expect(biggest[1]).toMatchObject({ entry: 'page' })
})

test('asks no more of a key than it is to', async () => {
  const calls = async (name: string) => {
    const said = String(await redis.command('INFO', 'commandstats'))
    // Redis 6.2 counts a command and its subcommands as one.
    const counted = isRedis6 ? name.split('\\|')[0]! : name
    return Number(new RegExp(`^cmdstat_${counted}:calls=(\\d+)`, 'm').exec(said)?.[1] ?? 0)
  }
  for (const how of [{ exact: true }, { sample: 100 }]) {
    await redis.command('CONFIG', 'RESETSTAT')
    const { all, groups, looked } = await counted({ brief: true, ...how })
    expect(await calls('object\\|encoding')).toBe(0)
    expect(await calls('object\\|idletime')).toBe(0)
    expect(await calls('memory\\|usage')).toBe(looked)
    expect([all.encodings, all.idle]).toEqual([[], []])
    expect(groups[0]!.types).toMatchObject([{ name: 'string' }])
    expect(all.bytes.value).toBeGreaterThan(100_000)
  }
})

test('counts what is chosen, by entry, by prefix', async () => {
  const names = async (options: StatsOptions) =>
    Object.fromEntries((await counted(options)).groups.map(({ name, keys }) => [String(name), keys.value]))
  expect(await names({ by: 'prefix' })).toEqual({
    'app:session:': 3000,
    'app:sess:': 1,
    'app:page:': 800,
    'app:viewed:': 200,
    'app:stray': 1,
  })
  expect(await names({ by: 'prefix', depth: 2, under: 'page:' })).toEqual({ 'app:page:<n>/<n>': 800 })
  expect(await names({ entries: ['page', 'viewed'] })).toEqual({ page: 800, viewed: 200 })
  expect(await names({ subject: { id: '7' } })).toEqual({ session: 1, viewed: 1 })
  expect(await names({ prefix: '', by: 'prefix' })).toMatchObject({ 'app:': 4002, elsewhere: 1 })
})

test('a sample of a server has the truth in its intervals about as often as it says', async () => {
  const truth = await counted()
  const random = seeded()
  let covered = 0
  let intervals = 0
  for (let round = 0; round < 100; round += 1) {
    const { exact, groups, looked } = await counted({ sample: 120, count: 30, random })
    expect(exact).toBe(false)
    expect(looked).toBeGreaterThanOrEqual(120)
    for (const { name, keys, bytes, ttl } of groups) {
      const actual = truth.groups.find((group) => group.name === name)!
      // The one stray key is either seen or not: no interval can be drawn about it.
      if (name === undefined) continue
      for (const [{ low, high }, { value }] of [
        [keys, actual.keys],
        [bytes, actual.bytes],
        [ttl[2]!.keys, actual.ttl[2]!.keys],
      ] as const) {
        intervals += 1
        if (low <= value && value <= high) covered += 1
      }
    }
  }
  expect(intervals).toBeGreaterThan(800)
  // In a table of 4,003 there are but thirty places to start from that do not overlap: the bound is a wide one. How often
  // it is over many tables, the test of the estimates says.
  expect(covered / intervals).toBeGreaterThan(0.8)
})

test('a sample of what is chosen speaks for that alone', async () => {
  const { all, groups, exact } = await counted({ entries: ['viewed'], sample: 1500, random: seeded() })
  expect([exact, groups.map(({ name }) => name)]).toEqual([false, ['viewed']])
  expect(all.keys.value).toBeGreaterThan(50)
  expect(all.keys.value).toBeLessThan(600)
})

test('however many prefixes there are, the number of groups is bounded and none is lost', async () => {
  const line =
    "for at = 1, 3000 do redis.call('SET', 'many:' .. string.gsub(tostring(at), '%d', function(d) return string.char(97 + d) end) .. ':x', 'x') end"
  await redis.command('EVAL', line, '0')
  const { groups, all } = await counted({ prefix: 'many:', by: 'prefix' })
  expect(groups.length).toBeLessThanOrEqual(501)
  expect(groups.reduce((sum, { keys }) => sum + keys.value, 0)).toBe(3000)
  expect(all.keys.value).toBe(3000)
  expect(groups.find(({ name }) => name === undefined)!.keys.value).toBeGreaterThan(2000)
  await redis.command('EVAL', line.replace("'SET'", "'DEL'").replace(", 'x') end", ') end'), '0')
})

/** Draws that are spread evenly, the same in every run. */
function seeded(): () => number {
  let at = 0
  return () => (at = (at + 0.618034) % 1)
}
