import { hash, type Schema, string, text } from 'keyspec'
import { unique } from 'keyspec/testing'
import { expect, test } from 'vitest'
import { connected } from '../../../../test-support/connected.ts'
import { type CopyOptions, copyKeys, previewCopy } from './copy.ts'
import { type SelectionOptions, selectKeys } from '../scan/selection.ts'
import { expiresAt } from '../../../../test-support/expires-at.ts'

const here = await connected()
const there = await connected()

const schema: Schema = {
  page: string('page:<id>', text, { ttl: '1h' }),
  person: hash('person:<id>', { name: text }, { ttl: 'forever', reason: 'they stay' }),
}

const full: CopyOptions = { maxLoad: 1 }
const copied = async (choice: SelectionOptions, options: CopyOptions = full) =>
  copyKeys(here.connection, there.connection, selectKeys(schema, choice), options)
const previewed = async (choice: SelectionOptions) =>
  previewCopy(here.connection, there.connection, selectKeys(schema, choice), full)

async function stateOf(redis: typeof here.redis, key: string | Buffer) {
  return [await expiresAt(redis, key), await redis.commandBuffer('DUMP', key)]
}

test('every type arrives as it was, with its expiry to the millisecond, also of names that are no text', async () => {
  const prefix = `${unique()}:`
  const soon = String(Date.now() + 3_600_123)
  const binary = Buffer.concat([Buffer.from(prefix), Buffer.from([0xff, 0, 10])])
  await here.redis.command('SET', `${prefix}page:1`, 'one', 'PXAT', soon)
  await here.redis.command('SET', binary, Buffer.from([0, 0xff]), 'PXAT', soon)
  await here.redis.command('HSET', `${prefix}person:1`, 'name', 'Ann')
  await here.redis.command('RPUSH', `${prefix}list`, 'a', 'b')
  await here.redis.command('SADD', `${prefix}set`, '1', '2')
  await here.redis.command('ZADD', `${prefix}zset`, '1.5', 'a')
  await here.redis.command('XADD', `${prefix}stream`, '1-1', 'a', 'b')
  await here.redis.command('SET', `${prefix}large`, Buffer.alloc(3_000_000, 'the quick brown fox'))
  const names = ['page:1', 'person:1', 'list', 'set', 'zset', 'stream', 'large']
  const keys = [binary, ...names.map((name) => prefix + name)]

  expect(await previewed({ prefix })).toEqual({ keys: 8, fresh: 8, existing: 0, samples: [] })
  expect(await there.redis.command('EXISTS', ...keys)).toBe(0)
  expect(await copied({ prefix })).toMatchObject({ keys: 8, copied: 8, kept: 0, expired: 0, gone: 0 })
  for (const key of keys)
    expect(await stateOf(there.redis, key), String(key)).toEqual(await stateOf(here.redis, key))
})

test('an entry takes none of another, wherever its keys stand among them', async () => {
  const prefix = `${unique()}:`
  for (let id = 0; id < 2000; id += 1)
    void here.redis.command('SET', `${prefix}${id % 100 === 0 ? 'page' : 'other'}:${id}`, 'x')
  await here.redis.command('HSET', `${prefix}person:1`, 'name', 'Ann')
  const done = await copied({ prefix, entries: ['page', 'person'] })
  expect(done).toMatchObject({ keys: 21, copied: 21 })
  expect(await there.redis.command('EXISTS', `${prefix}page:0`, `${prefix}page:1900`)).toBe(2)
  expect(await there.redis.command('EXISTS', `${prefix}other:1`, `${prefix}other:1999`)).toBe(0)
})

test('what is there stays, unless it is to be replaced', async () => {
  const prefix = `${unique()}:`
  for (const name of ['a', 'b', 'c']) await here.redis.command('SET', prefix + name, 'new', 'PX', '3600000')
  await there.redis.command('SET', `${prefix}a`, 'old')
  expect(await previewed({ prefix })).toMatchObject({
    fresh: 2,
    existing: 1,
    samples: [Buffer.from(`${prefix}a`)],
  })

  expect(await copied({ prefix })).toMatchObject({ copied: 2, kept: 1, samples: [Buffer.from(`${prefix}a`)] })
  expect(await there.redis.command('GET', `${prefix}a`)).toBe('old')
  expect(await there.redis.command('GET', `${prefix}b`)).toBe('new')

  expect(await copied({ prefix }, { ...full, onConflict: 'replace' })).toMatchObject({ copied: 3, kept: 0 })
  expect(await there.redis.command('GET', `${prefix}a`)).toBe('new')
  expect(await there.redis.command('PTTL', `${prefix}a`)).toBeGreaterThan(3_500_000)
})

test('it stops between batches when it is told to, and what is missing is copied later', async () => {
  const prefix = `${unique()}:`
  for (let index = 0; index < 1500; index += 1) void here.redis.command('SET', `${prefix}${index}`, 'x')
  await here.redis.command('PING')
  const stop = new AbortController()
  const stopped = (async () => {
    const steps = copyKeys(here.connection, there.connection, selectKeys(schema, { prefix }), {
      maxLoad: 1,
      signal: stop.signal,
    })
    for await (const { soFar } of steps) if (soFar.copied >= 300) stop.abort()
  })()
  await expect(stopped).rejects.toThrow(/abort/)
  const done = await copied({ prefix })
  expect(done.copied).toBeGreaterThan(0)
  expect(done.kept).toBeGreaterThan(0)
  expect(done.copied + done.kept).toBe(1500)
  expect(await there.redis.command('EXISTS', `${prefix}0`, `${prefix}1499`)).toBe(2)
})

test('a user who may not run scripts can be copied to', async () => {
  const prefix = `${unique()}:`
  for (const name of ['a', 'b']) await here.redis.command('SET', prefix + name, 'new')
  await there.redis.command('SET', `${prefix}a`, 'old')
  await there.redis.command('ACL', 'SETUSER', 'default', '-eval', '-evalsha')
  try {
    expect(await copied({ prefix })).toMatchObject({ copied: 1, kept: 1 })
  } finally {
    await there.redis.command('ACL', 'SETUSER', 'default', '+eval', '+evalsha')
  }
  expect(await there.redis.command('GET', `${prefix}b`)).toBe('new')
})
