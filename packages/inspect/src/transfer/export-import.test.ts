import { randomBytes } from 'node:crypto'
import { type Connection, hash, type Schema, string, text } from 'keyspec'
import { unique } from 'keyspec/testing'
import { expect, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { ArchiveError } from './archive/archive.ts'
import { exportKeys, type ExportResult } from './export.ts'
import { importKeys, previewImport } from './import.ts'
import { inspectArchive } from './inspect-archive.ts'
import { type SelectionOptions, selectKeys } from '../scan/selection.ts'
import { expiresAt } from '../../../../test-support/expires-at.ts'

const { redis, connection } = await connected()

const schema: Schema = {
  page: string('page:<id>', text, { ttl: '1h' }),
  person: hash('person:<id>', { name: text }, { ttl: 'forever', reason: 'they stay' }),
}

async function exported(
  prefix: string,
  options: SelectionOptions = {},
  over: Connection = connection,
): Promise<{ bytes: Buffer; exported: ExportResult | undefined }> {
  const steps = await all(
    exportKeys(over, selectKeys(schema, { prefix, ...options }), {
      schema,
      prefix,
      keyspec: '0.1.0',
      maxLoad: 1,
    }),
  )
  return { bytes: Buffer.concat(steps.map(({ bytes }) => bytes)), exported: steps.at(-1)?.soFar }
}

const sourceOf = (bytes: Buffer) =>
  async function* () {
    for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
  }

async function keysUnder(prefix: string): Promise<string[]> {
  const reply = (await redis.command('SCAN', '0', 'MATCH', `${prefix}*`, 'COUNT', '1000000')) as [
    string,
    string[],
  ]
  return reply[1].sort()
}

async function dumps(keys: readonly (string | Buffer)[]) {
  return Promise.all(
    keys.map(async (key) => [
      await redis.command('TYPE', key),
      await expiresAt(redis, key),
      await redis.commandBuffer('DUMP', key),
    ]),
  )
}

async function filled(prefix: string): Promise<(string | Buffer)[]> {
  const binary = Buffer.concat([Buffer.from(prefix), Buffer.from([0xff, 0, 10])])
  const soon = String(Date.now() + 3_600_123)
  await redis.command('SET', `${prefix}page:1`, 'one', 'PXAT', soon)
  await redis.command('SET', binary, Buffer.from([0, 0xff]), 'PXAT', soon)
  await redis.command('SET', prefix, 'a key that is its prefix')
  await redis.command('SET', `${prefix}page:*[?`, 'x\ny')
  await redis.command('SET', `${prefix}number`, '12345')
  await redis.command('HSET', `${prefix}person:1`, 'name', 'Ann', '', '')
  await redis.command(
    'RPUSH',
    `${prefix}list`,
    ...Array.from({ length: 5000 }, (_, index) => `element ${index}`),
  )
  await redis.command(
    'SADD',
    `${prefix}set`,
    ...Array.from({ length: 2000 }, (_, index) => `member ${index}`),
  )
  await redis.command('SADD', `${prefix}integers`, '1', '2', '3')
  await redis.command('ZADD', `${prefix}zset`, '1.5', 'a', '-inf', 'b', '0.1', 'c')
  await redis.command('XADD', `${prefix}stream`, '1-1', 'a', 'b')
  await redis.command('XADD', `${prefix}stream`, '2-1', 'c', 'd')
  await redis.command('XGROUP', 'CREATE', `${prefix}stream`, 'readers', '0')
  await redis.command(
    'XREADGROUP',
    'GROUP',
    'readers',
    'ann',
    'COUNT',
    '1',
    'STREAMS',
    `${prefix}stream`,
    '>',
  )
  await redis.command('PEXPIREAT', `${prefix}stream`, soon)
  const names = ['page:1', '', 'page:*[?', 'number', 'person:1', 'list', 'set', 'integers', 'zset', 'stream']
  return [binary, ...names.map((name) => prefix + name)]
}

test('every type comes back as it was, with its expiry to the millisecond', async () => {
  const prefix = `${unique()}:`
  const keys = await filled(prefix)
  const before = await dumps(keys)
  const { bytes, exported: sums } = await exported(prefix)
  expect(sums).toMatchObject({ keys: 11, gone: 0 })
  expect(sums!.entries).toContainEqual(expect.objectContaining({ entry: 'page', keys: 2 }))
  await redis.command('UNLINK', ...keys)

  const preview = await previewImport(connection, sourceOf(bytes), { maxLoad: 1 })
  expect(preview).toEqual({ records: 11, fresh: 11, existing: 0, expired: 0, samples: [] })
  expect(await keysUnder(prefix)).toEqual([])

  const done = await importKeys(connection, sourceOf(bytes), { maxLoad: 1 })
  expect(done).toEqual({ records: 11, restored: 11, kept: 0, expired: 0, samples: [] })
  const after = await dumps(keys)
  for (const [index, key] of keys.entries()) {
    expect(after[index]!.slice(0, 2), String(key)).toEqual(before[index]!.slice(0, 2))
    // The members of a large set have no order that would come back.
    if (!String(key).endsWith('set')) expect(after[index]![2], String(key)).toEqual(before[index]![2])
  }
  expect(await redis.command('SCARD', `${prefix}set`)).toBe(2000)
  expect(await redis.command('SISMEMBER', `${prefix}set`, 'member 1999')).toBe(1)
  expect(await redis.command('XPENDING', `${prefix}stream`, 'readers')).toEqual([
    1,
    '1-1',
    '1-1',
    [['ann', '1']],
  ])
})

test('the contents are told without a server', async () => {
  const prefix = `${unique()}:`
  await filled(prefix)
  const { bytes } = await exported(prefix)
  const contents = await inspectArchive(sourceOf(bytes), { nowMs: Date.now() + 4_000_000 })
  expect(contents).toMatchObject({
    header: {
      prefix,
      title: `all keys under "${prefix}"`,
      entries: ['page', 'person'],
      server: /^(Redis|Valkey) \d/,
    },
    records: 11,
    forever: 8,
    expired: 3,
    fileBytes: bytes.length,
    largest: { key: Buffer.from(`${prefix}list`) },
  })
  expect(contents.header.dumpVersion).toBeGreaterThan(8)
  expect(contents.types).toContainEqual(expect.objectContaining({ type: 'string', keys: 5 }))
  expect(contents.entries.map(({ entry, keys }) => [entry, keys])).toEqual(
    expect.arrayContaining([
      ['page', 2],
      ['person', 1],
      [undefined, 8],
    ]),
  )
})

test('an empty key and a value of 10 MB come back too, in batches that stay small', async () => {
  const prefix = `${unique()}:`
  // Made, copied and summed up by the server itself: what is tested is the way of ours.
  await redis.command('SETRANGE', `${prefix}large:0`, String(10 * 1024 * 1024), 'the end')
  for (const index of [1, 2, 3]) await redis.command('COPY', `${prefix}large:0`, `${prefix}large:${index}`)
  const sum = (key: string) =>
    redis.command('EVAL', "return redis.sha1hex(redis.call('GET', KEYS[1]))", '1', key)
  const before = await sum(`${prefix}large:0`)
  await redis.command('SET', '', 'nameless')
  const { bytes, exported: sums } = await exported('', { under: '' })
  expect(sums!.keys).toBe(Number(await redis.command('DBSIZE')))
  await redis.command('FLUSHALL')
  await all(importKeys(connection, sourceOf(bytes), { maxLoad: 1 }))
  expect(await redis.command('GET', '')).toBe('nameless')
  expect(await sum(`${prefix}large:3`)).toBe(before)
})

test('what is there stays, unless it is to be replaced; what has expired since is left out', async () => {
  const prefix = `${unique()}:`
  for (const name of ['a', 'b', 'c']) await redis.command('SET', prefix + name, 'then')
  await redis.command('SET', `${prefix}short`, 'then', 'PX', '60000')
  const { bytes } = await exported(prefix)
  await redis.command('SET', `${prefix}a`, 'now')
  await redis.command('UNLINK', `${prefix}b`, `${prefix}short`)

  const preview = await previewImport(connection, sourceOf(bytes), { maxLoad: 1 })
  expect(preview).toMatchObject({ fresh: 2, existing: 2, expired: 0 })
  expect(preview.samples.map(String).sort()).toEqual([`${prefix}a`, `${prefix}c`])

  const kept = await importKeys(connection, sourceOf(bytes), { maxLoad: 1 })
  expect(kept).toMatchObject({ restored: 2, kept: 2 })
  expect(await redis.command('GET', `${prefix}a`)).toBe('now')
  expect(await redis.command('GET', `${prefix}b`)).toBe('then')

  const late = later(connection, 120_000)
  await redis.command('SET', `${prefix}short`, 'mine')
  const replaced = await importKeys(late, sourceOf(bytes), { maxLoad: 1, onConflict: 'replace' })
  expect(replaced).toMatchObject({ records: 4, restored: 3, kept: 0, expired: 1 })
  expect(await redis.command('GET', `${prefix}a`)).toBe('then')
  expect(await redis.command('GET', `${prefix}short`)).toBe('mine')
})

test('keys are given another beginning, and one that has not the old one stops a preview', async () => {
  const prefix = `${unique()}:`
  await redis.command('SET', `${prefix}doc:1`, 'x')
  await redis.command('SET', `${prefix}doc:2`, 'y')
  const { bytes } = await exported(prefix)
  const rename = { strip: `${prefix}doc:`, add: `${prefix}cache:doc:`, maxLoad: 1 }
  await all(previewImport(connection, sourceOf(bytes), rename))
  await all(importKeys(connection, sourceOf(bytes), rename))
  expect(await keysUnder(prefix)).toEqual(
    ['cache:doc:1', 'cache:doc:2', 'doc:1', 'doc:2'].map((name) => prefix + name),
  )
  await expect(
    all(previewImport(connection, sourceOf(bytes), { ...rename, strip: `${prefix}doc:1` })),
  ).rejects.toThrow(`${prefix}doc:2 does not begin with "${prefix}doc:1", which is to be stripped`)
})

test('an import that meets a key without the old beginning does not say that it wrote nothing: it writes as it reads', async () => {
  const prefix = `${unique()}:`
  await redis.command('SET', `${prefix}doc:1`, 'x')
  await redis.command('SET', `${prefix}other`, 'y')
  const { bytes } = await exported(prefix)
  const failing = all(
    importKeys(connection, sourceOf(bytes), { strip: `${prefix}doc:`, add: `${prefix}new:` }),
  )
  await expect(failing).rejects.toMatchObject({
    code: 'E_IMPORT',
    message: `${prefix}other does not begin with "${prefix}doc:", which is to be stripped`,
  })
})

test('values that the server cannot read are refused before any is written', async () => {
  const prefix = `${unique()}:`
  await redis.command('SET', `${prefix}a`, 'x')
  const { bytes } = await exported(prefix)
  await redis.command('UNLINK', `${prefix}a`)
  // Another server's version: as this one would see a dump of Redis 99.
  const newer: Connection = {
    ...connection,
    masters: async () => [newer],
    send: (command, shape) =>
      connection.send(
        command.map((word, index) => {
          if (command[0] !== 'RESTORE' || index !== 3) return word
          const dump = Buffer.from(word as Buffer)
          dump.writeUInt16LE(999, dump.length - 10)
          return dump
        }),
        shape,
      ),
  }
  await expect(all(previewImport(newer, sourceOf(bytes), { maxLoad: 1 }))).rejects.toThrow(
    'this server cannot read the value',
  )
  expect(await keysUnder(prefix)).toEqual([])
})

test('keys that vanish while it exports are left out and counted', async () => {
  const prefix = `${unique()}:`
  for (let index = 0; index < 400; index += 1)
    void redis.command('SET', `${prefix}${index}`, randomBytes(9000))
  await redis.command('PING')
  const vanishing: Connection = {
    ...connection,
    masters: async () => [vanishing],
    async send(command, shape) {
      const reply = await connection.send(command, shape)
      const isWalk = command[0] === 'EVALSHA' || command[0] === 'EVAL'
      if (isWalk && Number(command[2]) === 0) {
        for (let n = 0; n < 10; n += 1)
          await redis.command('UNLINK', `${prefix}${Math.floor(Math.random() * 400)}`)
      }
      return reply
    },
  }
  const { bytes, exported: sums } = await exported(prefix, {}, vanishing)
  const { records } = await inspectArchive(sourceOf(bytes))
  expect(records).toBe(sums!.keys)
  expect(sums!.gone).toBeGreaterThan(0)
  expect(records).toBeGreaterThan(200)
})

test('an export by prefix takes nothing of another that begins alike', async () => {
  const prefix = `${unique()}:`
  for (const name of ['cache:a', 'cache:b', 'cache2:a', 'cache', 'Cache:a'])
    await redis.command('SET', prefix + name, 'x')
  const { bytes } = await exported(prefix, { under: 'cache:' })
  await redis.command('UNLINK', ...(await keysUnder(prefix)))
  await all(importKeys(connection, sourceOf(bytes), { maxLoad: 1 }))
  expect(await keysUnder(prefix)).toEqual([`${prefix}cache:a`, `${prefix}cache:b`])
})

test('it stops between batches when it is told to, and what is missing is written later', async () => {
  const prefix = `${unique()}:`
  for (let index = 0; index < 1200; index += 1) void redis.command('SET', `${prefix}${index}`, 'x')
  await redis.command('PING')
  const { bytes } = await exported(prefix)
  await redis.command('UNLINK', ...(await keysUnder(prefix)))
  const stop = new AbortController()
  const stopped = (async () => {
    for await (const { soFar } of importKeys(connection, sourceOf(bytes), {
      maxLoad: 1,
      signal: stop.signal,
    }))
      if (soFar.restored >= 200) stop.abort()
  })()
  await expect(stopped).rejects.toThrow(/abort/)
  expect(await keysUnder(prefix)).toHaveLength(500)
  const done = await importKeys(connection, sourceOf(bytes), { maxLoad: 1 })
  expect(done).toMatchObject({ restored: 700, kept: 500 })
})

test('a damaged file is an error of its own', async () => {
  const { bytes } = await exported(`${unique()}:`)
  bytes[bytes.length - 1]! ^= 1
  await expect(inspectArchive(sourceOf(bytes))).rejects.toThrow(ArchiveError)
})

/** The same server, whose clock runs ahead. */
function later(over: Connection, byMs: number): Connection {
  return {
    ...over,
    async send(command, shape) {
      const reply = await over.send(command, shape)
      if (command[0] !== 'TIME') return reply
      const [seconds, micros] = reply as [string, string]
      return [String(Number(seconds) + byMs / 1000), micros]
    },
  }
}
