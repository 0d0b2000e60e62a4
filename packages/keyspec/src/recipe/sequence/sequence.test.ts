import { createClient } from 'redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { DecodeError, EncodeError } from '../../errors.ts'
import { open } from '../../keyspace.ts'
import { unique } from '../../testing/eventually.ts'
import { startRedis, type TemporaryRedis } from '../../testing/redis.ts'
import { sequence } from './sequence.ts'

let server: TemporaryRedis
let client: ReturnType<typeof connect>
const connect = () => createClient({ socket: { path: server.socket, tls: false } })
beforeAll(async () => {
  server = await startRedis()
  client = connect()
  await client.connect()
})
afterAll(async () => {
  client.destroy()
  await server.stop()
})

const schema = {
  lastJobId: sequence('last_job_id', { ttl: 'forever', reason: 'ids never repeat' }),
  ofDay: sequence('id:<day>', { ttl: '2d', renew: 'creation' }),
}
const keysOver = (over = client, prefix = `${unique()}:`) => open(schema, fromNodeRedis(over), { prefix })

test('counts from one, and holds the last number as a plain integer', async () => {
  const key = keysOver().lastJobId()
  expect(await key.current()).toBeUndefined()
  expect(await key.next()).toBe(1)
  expect(await key.nextMany(10)).toEqual({ first: 2, last: 11 })
  expect(await key.next()).toBe(12)
  expect(await key.current()).toBe(12)
  expect(await server.command('GET', key.name)).toBe('12')
  expect(await server.command('PTTL', key.name)).toBe(-1)
})

test('goes on from what another program wrote', async () => {
  const key = keysOver().lastJobId()
  await server.command('SET', key.name, '41')
  expect(await key.next()).toBe(42)
})

test('never gives a number twice nor leaves one out, whoever asks at once over whichever connection', async () => {
  const prefix = `${unique()}:`
  const others = await Promise.all([connect().connect(), connect().connect(), connect().connect()])
  const keys = [client, ...others].map((each) => keysOver(each, prefix).lastJobId())
  const taken = await Promise.all(Array.from({ length: 400 }, (_, n) => keys[n % 4]!.nextMany(1 + (n % 3))))
  const ids = taken.flatMap(({ first, last }) =>
    Array.from({ length: last - first + 1 }, (_, n) => first + n),
  )
  expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: ids.length }, (_, n) => n + 1))
  expect(await server.command('GET', keys[0]!.name)).toBe(String(ids.length))
  for (const other of others) other.destroy()
})

test('is raised for an import, never lowered', async () => {
  const key = keysOver().lastJobId()
  expect(await key.atLeast(100)).toBe(100)
  expect(await key.atLeast(50)).toBe(100)
  expect(await key.next()).toBe(101)
  expect(await key.atLeast(9_007_199_254_740_990)).toBe(9_007_199_254_740_990)
  expect(await server.command('GET', key.name)).toBe('9007199254740990')
})

test('ends at 2^53 − 1 with an error, and takes nothing then', async () => {
  const key = keysOver().lastJobId()
  await key.atLeast(Number.MAX_SAFE_INTEGER - 2)
  await expect(key.nextMany(3)).rejects.toThrow(EncodeError)
  expect(await key.nextMany(2)).toEqual({ first: Number.MAX_SAFE_INTEGER - 1, last: Number.MAX_SAFE_INTEGER })
  await expect(key.next()).rejects.toThrow(`${key.name}: not written`)
  expect(await server.command('GET', key.name)).toBe(String(Number.MAX_SAFE_INTEGER))
})

test('has the time to live it declares from its creation on', async () => {
  const key = keysOver().ofDay({ day: '2024-09-17' })
  await key.next()
  expect(await server.command('PTTL', key.name)).toBeGreaterThan(172_790_000)
  await server.command('PEXPIRE', key.name, 60_000)
  await key.next()
  await key.atLeast(10)
  expect(await server.command('PTTL', key.name)).toBeLessThanOrEqual(60_000)
  await key.delete()
  await key.atLeast(10)
  expect(await server.command('PTTL', key.name)).toBeGreaterThan(172_790_000)
})

test('names the key that holds no number, and leaves it as it is', async () => {
  const key = keysOver().lastJobId()
  await server.command('SET', key.name, 'twelve')
  await expect(key.next()).rejects.toThrow(DecodeError)
  await expect(key.next()).rejects.toThrow(key.name)
  await expect(key.atLeast(5)).rejects.toThrow(DecodeError)
  await expect(key.current()).rejects.toThrow(DecodeError)
  expect(await server.command('GET', key.name)).toBe('twelve')
})

test.each(['1e3', '0x10', '1.5', ' 7', '7\n', '', '-'])(
  'takes %j for no number, and leaves it',
  async (stored) => {
    const key = keysOver().lastJobId()
    await server.command('SET', key.name, stored)
    await expect(key.atLeast(5)).rejects.toMatchObject({
      code: 'E_DECODE',
      message: `${key.name}: holds a value that is not integer: it does not hold a whole number`,
    })
    await expect(key.next()).rejects.toMatchObject({
      code: 'E_DECODE',
      message: `${key.name}: holds a value that is not integer: value is not an integer or out of range`,
    })
    expect(await server.command('GET', key.name)).toBe(stored)
  },
)

test('a raise to where it stands writes nothing, so its time to live goes on', async () => {
  const keys = open({ ofDay: sequence('id', { ttl: '2d' }) }, fromNodeRedis(client), {
    prefix: `${unique()}:`,
  })
  const key = keys.ofDay()
  await key.atLeast(10)
  await server.command('PEXPIRE', key.name, 60_000)
  expect(await key.atLeast(10)).toBe(10)
  expect(await key.atLeast(9)).toBe(10)
  expect(await server.command('PTTL', key.name)).toBeLessThanOrEqual(60_000)
  expect(await key.atLeast(11)).toBe(11)
  expect(await server.command('PTTL', key.name)).toBeGreaterThan(172_790_000)
})

test('refuses to take no numbers, or half a one', async () => {
  const key = keysOver().lastJobId()
  for (const count of [0, -1, 1.5, NaN]) await expect(key.nextMany(count)).rejects.toThrow(RangeError)
  await expect(key.atLeast(1.5)).rejects.toThrow(EncodeError)
  expect(await server.command('EXISTS', key.name)).toBe(0)
})
