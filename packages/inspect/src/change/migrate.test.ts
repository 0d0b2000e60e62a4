import { hash, integer, mount, open, param, string, text } from 'keyspec'
import { external } from 'keyspec/recipes'
import { unique } from 'keyspec/testing'
import { expect, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { planMigration, rollBackMigration, runMigration, verifyMigration } from './migrate.ts'
import { scanKeys } from '../scan/scan.ts'
import { expiresAt } from '../../../../test-support/expires-at.ts'

const schema = {
  doc: string('cache:doc:<id>', text, { ttl: '1h', renamedFrom: { pattern: 'doc:<id>', phase: 2 } }),
  profile: hash(
    'user:<id>',
    { name: text },
    { ttl: '1h', renamedFrom: { pattern: ['profile:<id>', 'p:<id*>'], phase: 2 } },
  ),
  daily: string('daily:<on>', text, {
    ttl: '1d',
    renamedFrom: { pattern: 'd:<on>', phase: 2 },
    params: { on: param.day },
  }),
  settings: string('settings', integer, {
    ttl: 'forever',
    reason: 'people chose them',
    renamedFrom: { pattern: 'config', phase: 2 },
  }),
  results: external('results:task-<id>', {
    by: 'Celery',
    keys: 'string',
    about: 'Results',
    renamedFrom: ['task-<id>'],
  }),
  tutor: mount('tutor:', {
    page: string('page:<url*>', text, { ttl: '1h', renamedFrom: { pattern: 'web:<url*>', phase: 2 } }),
  }),
  plain: string('plain:<id>', text, { ttl: '1h' }),
}

const { redis, connection } = await connected()

type Work = typeof planMigration | typeof runMigration

/** What became of the keys: `{ 'doc:<id>': { moved: 3 } }`. */
async function counts(work: Work, prefix: string, options: object = {}) {
  const found: Record<string, Record<string, number>> = {}
  for (const { rule, counts } of (await work(schema, connection, { prefix, maxLoad: 1, ...options })).rules) {
    const states = (found[rule.declared.text] ??= {})
    for (const [state, keys] of Object.entries(counts)) states[state] = (states[state] ?? 0) + keys
  }
  return found
}

async function left(prefix: string): Promise<string[]> {
  const keys = (await all(scanKeys(connection, { prefix, maxLoad: 1 }))).flat()
  const names = keys.map(({ name }) => name?.slice(prefix.length) ?? 'binary').sort()
  return names.filter((name) => name !== 'keyspec:phases')
}

async function fill(prefix: string, names: readonly string[], ttlMs = 500_000): Promise<void> {
  for (const name of names) await redis.command('SET', prefix + name, `value of ${name}`, 'PX', ttlMs)
}

const old = ['doc:1', 'doc:2', 'p:3', 'd:2025-01-10', 'task-a-b', 'tutor:web:https://a/b?c']
const moved = [
  'cache:doc:1',
  'cache:doc:2',
  'user:3',
  'daily:2025-01-10',
  'results:task-a-b',
  'tutor:page:https://a/b?c',
]
const unrelated = ['cache:doc:9', 'unacked', 'docs:1', 'plain:1', 'web:x', 'task_', 'cache:other']

test('every key is moved with its value and time to live, and what it does not know stays', async () => {
  const prefix = `${unique()}:`
  await fill(prefix, [...old, ...unrelated])
  await redis.command('SET', `${prefix}config`, '7')
  await redis.command('SET', Buffer.from(`${prefix}doc:\xff`, 'latin1'), 'x')
  await fill(prefix, ['doc:a:b', 'd:yesterday', 'p:4:5'])
  const ends = await expiresAt(redis, `${prefix}doc:1`)
  await redis.command('SET', `outside-${prefix}doc:1`, 'x')

  expect(await counts(planMigration, prefix)).toEqual({
    'doc:<id>': { waiting: 2, unknown: 2, migrated: 1 },
    'p:<id*>': { waiting: 1, nameless: 1 },
    'd:<on>': { waiting: 1, unknown: 1 },
    config: { waiting: 1 },
    'task-<id>': { waiting: 1 },
    'web:<url*>': { waiting: 1 },
  })
  expect(await counts(runMigration, prefix)).toEqual({
    'doc:<id>': { moved: 2, unknown: 2 },
    'p:<id*>': { moved: 1, nameless: 1 },
    'd:<on>': { moved: 1, unknown: 1 },
    config: { moved: 1 },
    'task-<id>': { moved: 1 },
    'web:<url*>': { moved: 1 },
  })
  const after = [...moved, ...unrelated, 'settings', 'binary', 'doc:a:b', 'd:yesterday', 'p:4:5'].sort()
  expect(await left(prefix)).toEqual(after)
  for (const [index, name] of moved.entries())
    expect(await redis.command('GET', prefix + name)).toBe(`value of ${old[index]}`)
  expect(await expiresAt(redis, `${prefix}cache:doc:1`)).toBe(ends)
  expect(await redis.command('PTTL', `${prefix}settings`)).toBe(-1)

  // Twice changes nothing: no cache:cache:doc.
  expect(await counts(runMigration, prefix)).toEqual({
    'doc:<id>': { unknown: 2 },
    'p:<id*>': { nameless: 1 },
    'd:<on>': { unknown: 1 },
  })
  expect(await left(prefix)).toEqual(after)

  expect(await counts(rollBackMigration, prefix)).toMatchObject({
    'doc:<id>': { moved: 3 },
    'profile:<id>': { moved: 1 },
    'task-<id>': { moved: 1 },
  })
  expect(await left(prefix)).toEqual(
    [...old, ...unrelated, 'config', 'binary', 'doc:a:b', 'd:yesterday', 'p:4:5', 'doc:9', 'profile:3']
      .filter((name) => name !== 'cache:doc:9' && name !== 'p:3')
      .sort(),
  )
  expect(await expiresAt(redis, `${prefix}doc:1`)).toBe(ends)
})

test('a key under both names is left, and said; where the newer is kept, the old one goes', async () => {
  const prefix = `${unique()}:`
  await redis.command(
    'MSET',
    `${prefix}doc:1`,
    'old',
    `${prefix}cache:doc:1`,
    'new',
    `${prefix}p:1`,
    'oldest',
  )
  await redis.command('SET', `${prefix}profile:1`, 'older')
  expect(await counts(planMigration, prefix)).toEqual({
    'doc:<id>': { conflict: 1, migrated: 1 },
    'profile:<id>': { waiting: 1 },
    'p:<id*>': { waiting: 1 },
  })
  const ran = await counts(runMigration, prefix, { entries: ['doc'] })
  expect(ran).toEqual({ 'doc:<id>': { conflict: 1 } })
  expect(await redis.command('MGET', `${prefix}doc:1`, `${prefix}cache:doc:1`)).toEqual(['old', 'new'])
  expect(await counts(runMigration, prefix, { entries: ['doc'], keep: 'new' })).toEqual({
    'doc:<id>': { dropped: 1 },
  })
  expect(await redis.command('MGET', `${prefix}doc:1`, `${prefix}cache:doc:1`)).toEqual([null, 'new'])

  // Of two old names one is moved, and the other is in conflict with it: nothing is lost.
  const both = await counts(runMigration, prefix, { entries: ['profile'] })
  expect(Object.values(both)).toEqual(expect.arrayContaining([{ moved: 1 }, { conflict: 1 }]))
  expect(await left(prefix)).toHaveLength(3)
})

test('goes back to the old name that is chosen, and leaves what could have none there', async () => {
  const prefix = `${unique()}:`
  await fill(prefix, ['user:1', 'cache:doc:1', 'doc:1'])
  expect(await counts(rollBackMigration, prefix, { renamedFrom: 'p:<id*>' })).toEqual({
    'p:<id*>': { moved: 1 },
  })
  expect(await left(prefix)).toEqual(['cache:doc:1', 'doc:1', 'p:1'])
  expect(await counts(rollBackMigration, prefix, { entries: ['doc'] })).toEqual({
    'doc:<id>': { conflict: 1 },
  })
  await expect(counts(rollBackMigration, prefix, { renamedFrom: 'x:<id>' })).rejects.toThrow(
    'no entry chosen was "x:<id>": there are doc:<id>, profile:<id>, p:<id*>',
  )

  const wide = {
    doc: string('wide:<path*>', text, { ttl: '1h', renamedFrom: { pattern: 'narrow:<path>', phase: 2 } }),
  }
  await fill(prefix, ['wide:a:b', 'wide:c'])
  const { rules } = await rollBackMigration(wide, connection, { prefix, maxLoad: 1 })
  const found = rules.flatMap(({ samples }) => Object.entries(samples))
  expect(found.map(([state, samples]) => [state, String(samples[0]).slice(prefix.length)]).sort()).toEqual([
    ['moved', 'wide:c'],
    ['nameless', 'wide:a:b'],
  ])
})

test('keys are chosen by entry, by what is mounted, and by what they begin with', async () => {
  const prefix = `${unique()}:`
  await fill(prefix, old)
  expect(await counts(runMigration, prefix, { entries: ['tutor'] })).toEqual({ 'web:<url*>': { moved: 1 } })
  expect(await counts(runMigration, prefix, { under: 'doc:1' })).toEqual({ 'doc:<id>': { moved: 1 } })
  expect(await counts(runMigration, prefix, { entries: ['plain'] })).toEqual({})
  await expect(counts(runMigration, prefix, { entries: ['dco'] })).rejects.toThrow(
    'the schema has no entry "dco"',
  )
  expect(await left(prefix)).toHaveLength(old.length)
})

test('a check finds what is left, what lost its time to live, and what cannot be read', async () => {
  const prefix = `${unique()}:`
  await fill(prefix, ['doc:1', 'cache:doc:2', 'results:task-1'])
  await redis.command('SET', `${prefix}cache:doc:3`, 'x')
  await redis.command('SET', `${prefix}settings`, 'seven')
  await redis.command('RPUSH', `${prefix}cache:doc:4`, 'x')
  await redis.command('PEXPIRE', `${prefix}cache:doc:4`, 60_000)
  const found = await counts(verifyMigration, prefix)
  expect(found).toEqual({
    'doc:<id>': { waiting: 1, migrated: 3, 'without-ttl': 1, decoded: 1, undecodable: 1 },
    config: { migrated: 1, undecodable: 1 },
    'task-<id>': { migrated: 1 },
  })
  const few = await counts(verifyMigration, prefix, { sample: 0 })
  expect(few['doc:<id>']).toEqual({ waiting: 1, migrated: 3, 'without-ttl': 1 })
})

test('programs that read both names lose nothing while it runs', async () => {
  const prefix = `${unique()}:`
  const ids = Array.from({ length: 400 }, (_, id) => `${id}`)
  await fill(
    prefix,
    ids.map((id) => `doc:${id}`),
  )
  const { connection: another } = await connected(redis)
  const keys = open(schema, another, { prefix })
  let running = true
  const written = new Map<string, string>()
  const program = async () => {
    for (let turn = 0; running; turn += 1) {
      const id = ids[(turn * 7) % ids.length]!
      expect(await keys.doc({ id }).get()).toBe(written.get(id) ?? `value of doc:${id}`)
      const next = ids[(turn * 11 + 3) % ids.length]!
      written.set(next, `turn ${turn}`)
      await keys.doc({ id: next }).set(`turn ${turn}`)
    }
  }
  const program1 = program()
  const ran = await counts(runMigration, prefix, { count: 20 })
  running = false
  await program1
  expect(written.size).toBeGreaterThan(10)
  expect(ran['doc:<id>']!['conflict']).toBeUndefined()
  expect(await left(prefix)).toEqual(ids.map((id) => `cache:doc:${id}`).sort())
  for (const id of ids)
    expect(await redis.command('GET', `${prefix}cache:doc:${id}`)).toBe(
      written.get(id) ?? `value of doc:${id}`,
    )
  const ttls = await Promise.all(ids.map((id) => redis.command('PTTL', `${prefix}cache:doc:${id}`)))
  expect(ttls.every((ttl) => Number(ttl) > 0)).toBe(true)
})

test('a verification looks at every key, however few values it decodes', async () => {
  const prefix = `${unique()}:`
  await fill(prefix, ['tutor:page:1', 'tutor:page:2', 'tutor:page:3'])
  for (const sample of [0, 1, 2])
    expect((await verifyMigration(schema, connection, { prefix, maxLoad: 1, sample })).counts.migrated).toBe(
      3,
    )
})
