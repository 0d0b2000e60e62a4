import { list, mount, open, string, text } from 'keyspec'
import { external } from 'keyspec/recipes'
import { unique } from 'keyspec/testing'
import { expect, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { erase, type EraseOptions, previewErase } from './erase.ts'
import type { EraseShare } from './erase-sums.ts'
import { scanKeys } from '../scan/scan.ts'

const schema = {
  session: string('session:<userId>', text, {
    ttl: '1h',
    renamedFrom: { pattern: ['sess:<userId>', 's:<userId>'], phase: 2 },
  }),
  rate: string('rate:<userId>:<endpoint>', text, { ttl: '1m' }),
  order: list('order:<userId>', text, { ttl: 'forever', reason: 'the law wants them' }),
  tutor: mount('tutor:', { session: string('session:<userId>', text, { ttl: '1h' }) }),
  jobs: external('bull:<queue>', { by: 'BullMQ', keys: 'list', about: 'Jobs' }),
}

const { redis, connection } = await connected()

/** A keyspace of its own with these keys. */
async function filled(names: readonly (string | Buffer)[]): Promise<string> {
  const prefix = `${unique()}:`
  for (const name of names)
    await redis.command('SET', Buffer.concat([Buffer.from(prefix), Buffer.from(name)]), 'x')
  return prefix
}

async function left(prefix: string): Promise<string[]> {
  const keys = (await all(scanKeys(connection, { prefix, maxLoad: 1 }))).flat()
  return keys.map(({ name }) => name?.slice(prefix.length) ?? 'binary').sort()
}

const run = async (prefix: string, options: EraseOptions): Promise<readonly EraseShare[]> =>
  (await erase(schema, connection, { prefix, maxLoad: 1, ...options })).shares
const sum = (shares: readonly EraseShare[]) =>
  shares.filter(({ spared }) => !spared).reduce((total, { keys }) => total + keys, 0)

const names = [
  'session:42',
  'session:43',
  'sess:42',
  'session:4:2',
  'sessions:42',
  'rate:42:ask',
  'rate:421:ask',
  'order:42',
  'tutor:session:42',
  'bull:mail',
  'stray:42',
  '',
  'a\nb',
  'se*',
  Buffer.from([0x73, 0x65, 0xff, 0x00]),
]
const everything = names.map((name) => (typeof name === 'string' ? name : 'binary')).sort()

test.each<[string, EraseOptions, readonly string[]]>([
  ['an entry, its old names too', { entries: ['session'] }, ['sess:42', 'session:42', 'session:43']],
  [
    'a prefix, and not what it is a prefix of',
    { under: 'session:' },
    ['session:42', 'session:43', 'session:4:2'],
  ],
  ['a prefix of prefixes', { under: 'session' }, ['session:42', 'session:43', 'session:4:2', 'sessions:42']],
  [
    'a prefix of bytes that are no text',
    { under: 'se' },
    [...everything.filter((name) => name.startsWith('se')), 'binary'],
  ],
  ['a prefix that looks like a pattern', { under: 'se*' }, ['se*']],
  [
    'a person',
    { subject: { userId: '42' } },
    ['rate:42:ask', 'sess:42', 'session:42', 'order:42', 'tutor:session:42'],
  ],
  ['a person in an entry', { subject: { userId: '42' }, entries: ['rate'] }, ['rate:42:ask']],
  [
    'a person under a prefix, and not beyond it',
    { subject: { userId: '42' }, under: 'session:' },
    ['session:42'],
  ],
  ['another program’s entry', { entries: ['jobs'] }, []],
  ['another program’s entry, as it is wanted', { entries: ['jobs'], external: true }, ['bull:mail']],
  ['everything', {}, everything.filter((name) => name !== 'bull:mail')],
])('given %s, deletes what belongs to it and nothing else', async (_, options, gone) => {
  const prefix = await filled(names)
  const neighbour = prefix.slice(0, -1)
  await redis.command(
    'MSET',
    `${neighbour}2:session:42`,
    'x',
    `${neighbour}session:42`,
    'x',
    'session:42',
    'x',
  )
  const { shares: preview } = await previewErase(schema, connection, { prefix, maxLoad: 1, ...options })
  expect(await left(prefix)).toEqual(everything)
  expect(sum(preview)).toBe(gone.length)
  expect(sum(await run(prefix, options))).toBe(gone.length)
  expect(await left(prefix)).toEqual(everything.filter((name) => !gone.includes(name)))
  expect(
    await redis.command('EXISTS', `${neighbour}2:session:42`, `${neighbour}session:42`, 'session:42'),
  ).toBe(3)
  expect(await run(prefix, options).then(sum)).toBe(0)
})

test('the preview says whose keys there are, with their memory and a few of their names', async () => {
  const prefix = await filled([...names, ...Array.from({ length: 20 }, (_, i) => `rate:${i}:x`)])
  const { shares } = await previewErase(schema, connection, { prefix, maxLoad: 1, count: 10_000 })
  const of = (entry: string | undefined) => shares.filter((portion) => portion.entry === entry)
  expect(of('rate')).toMatchObject([{ keys: 22, forever: false, spared: false, program: undefined }])
  expect(of('rate')[0]!.samples).toHaveLength(5)
  expect(of('rate')[0]!.bytes).toBeGreaterThan(22 * 40)
  expect(of('order')).toMatchObject([{ keys: 1, forever: true }])
  expect(of('jobs')).toMatchObject([{ keys: 1, spared: true, program: 'BullMQ', forever: false }])
  expect(of(undefined)).toMatchObject([{ keys: 7, program: undefined }])
})

test('a person who is being moved to a new name all the while is erased under every name', async () => {
  const prefix = `${unique()}:`
  const keys = open(schema, connection, { prefix })
  for (let i = 0; i < 30; i += 1) {
    await redis.command('SET', `${prefix}s:42`, 'x')
    const reads = Array.from({ length: 5 }, () => keys.session({ userId: '42' }).get())
    await run(prefix, { subject: { userId: '42' } })
    await Promise.all(reads)
    expect(await left(prefix)).toEqual(['keyspec:phases'])
  }
  // Found by a scan, the old name brings the new one with it, which the scan may have passed by already.
  await redis.command('MSET', `${prefix}s:1`, 'x', `${prefix}session:1`, 'x')
  expect(sum(await run(prefix, { entries: ['session'] }))).toBe(2)
  await redis.command('MSET', `${prefix}s:1`, 'x', `${prefix}session:1`, 'x')
  expect(sum(await run(prefix, { under: 's:' }))).toBe(1)
  expect(await left(prefix)).toEqual(['keyspec:phases', 'session:1'])
})

test.each([0, -1, Number.NaN])('a rate of %d is refused with a code, and nothing goes', async (rate) => {
  const prefix = await filled(['session:1'])
  await expect(run(prefix, { entries: ['session'], rate })).rejects.toMatchObject({ code: 'E_ARGUMENT' })
  expect(await left(prefix)).toEqual(['session:1'])
})

test('goes no faster than it is told, and stops between two batches', async () => {
  const prefix = await filled(Array.from({ length: 60 }, (_, i) => `session:${i}`))
  const stop = new AbortController()
  const since = performance.now()
  let gone = 0
  const erasing = (async () => {
    for await (const { soFar } of erase(schema, connection, {
      prefix,
      rate: 200,
      count: 10_000,
      signal: stop.signal,
    })) {
      gone = soFar.keys
      if (gone >= 40) stop.abort()
    }
  })()
  await expect(erasing).rejects.toThrow(/abort/)
  expect(gone).toBe(40)
  // The first batch of 20 begins at once, the second 100 ms later.
  expect(performance.now() - since).toBeGreaterThanOrEqual(99)
  expect(await left(prefix)).toHaveLength(20)
  expect(sum(await run(prefix, { entries: ['session'] }))).toBe(20)
})
