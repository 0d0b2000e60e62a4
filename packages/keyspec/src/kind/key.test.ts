import { expect, test } from 'vitest'
import { connected } from '../../../../test-support/connected.ts'
import { text } from '../codec/text.ts'
import { open } from '../keyspace.ts'
import { unique } from '../testing/index.ts'
import { string } from './string.ts'

const { redis, connection } = await connected()
const schema = {
  short: string('short:<id>', text, { ttl: '1h' }),
  state: string('state:<id>', text, { ttl: 'forever', reason: 'a test' }),
  used: string('used:<id>', text, { ttl: '1h', renew: 'read' }),
}
const fresh = () => open(schema, connection, { prefix: `${unique()}:` })

test('exists until it is deleted', async () => {
  const key = fresh().short({ id: 1 })
  expect(await key.exists()).toBe(false)
  expect(await key.delete()).toBe(false)
  await key.set('')
  expect(await key.exists()).toBe(true)
  expect(await key.delete()).toBe(true)
  expect(await redis.command('EXISTS', key.name)).toBe(0)
})

test('tells its time to live', async () => {
  const keys = fresh()
  expect(await keys.short({ id: 1 }).ttlMs()).toBeUndefined()
  await keys.short({ id: 1 }).set('x')
  await keys.state({ id: 1 }).set('x')
  const ttl = await keys.short({ id: 1 }).ttlMs()
  expect(ttl).toBeGreaterThan(3_500_000)
  expect(ttl).toBeLessThanOrEqual(3_600_000)
  expect(await keys.state({ id: 1 }).ttlMs()).toBe('forever')
})

test('can end sooner than declared, and begin its lifetime anew', async () => {
  const key = fresh().short({ id: 1 })
  expect(await key.expireIn('1m')).toBe(false)
  expect(await key.renew()).toBe(false)
  await key.set('x')
  expect(await key.expireIn('1m')).toBe(true)
  expect(await redis.command('PTTL', key.name)).toBeLessThanOrEqual(60_000)
  expect(await key.renew()).toBe(true)
  expect(await redis.command('PTTL', key.name)).toBeGreaterThan(60_000)
})

test('declared forever loses a time to live when it is renewed', async () => {
  const key = fresh().state({ id: 1 })
  expect(await key.renew()).toBe(false)
  await key.set('x')
  expect(await key.expireIn('1m')).toBe(true)
  expect(await key.renew()).toBe(true)
  expect(await redis.command('PTTL', key.name)).toBe(-1)
})

test('a duration that is none is refused before anything is sent', async () => {
  const key = fresh().short({ id: 1 })
  await key.set('x')
  await expect(key.expireIn('0s')).rejects.toMatchObject({ code: 'E_SCHEMA' })
  await expect(key.expireIn('5' as never)).rejects.toThrow('is not a duration')
  expect(await redis.command('PTTL', key.name)).toBeGreaterThan(0)
})

test('being looked at is not being used: only reading renews', async () => {
  const key = fresh().used({ id: 1 })
  await key.set('x')
  await redis.command('PEXPIRE', key.name, 60_000)
  await key.exists()
  await key.ttlMs()
  expect(await redis.command('PTTL', key.name)).toBeLessThanOrEqual(60_000)
  await key.get()
  expect(await redis.command('PTTL', key.name)).toBeGreaterThan(60_000)
})
