import {
  erase,
  type MigrateOptions,
  planMigration,
  rollBackMigration,
  runMigration,
  verifyMigration,
} from '@keyspec/inspect'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Opened, openDocuments } from './keyspace.ts'
import { newState } from './pipeline/document-state.ts'

let redis: TemporaryRedis
let opened: Opened

beforeAll(async () => {
  redis = await startRedis()
  opened = await openDocuments(redis.url)
})

afterAll(async () => {
  opened.close()
  await redis.stop()
})

beforeEach(() => redis.command('FLUSHALL'))

const state = JSON.stringify(
  newState({ document_uuid: '7f', name: 'a.pdf', batch_id: 'b1' }, new Date('2025-01-10T12:00:00Z')),
)

/** Old names, and what the document's rules make of them. */
const rules: Readonly<Record<string, string>> = {
  'doc:state:7f': 'cache:doc:state:7f',
  'doc:ocr_result:7f': 'cache:doc:ocr_result:7f',
  'doc:chunks:7f': 'cache:doc:chunks:7f',
  'doc:all_extracted_mentions:7f': 'cache:doc:all_extracted_mentions:7f',
  'doc:canonical_entities:7f': 'cache:doc:canonical_entities:7f',
  'doc:resolved_mentions:7f': 'cache:doc:resolved_mentions:7f',
  'chunk:7f:1': 'cache:chunk:7f:1',
  'entity:person:9': 'cache:entity:person:9',
  'ocr:7f': 'cache:ocr:7f',
  'celery-task-meta-5e-1': 'results:celery-task-meta-5e-1',
}

/** Keys that are where they belong, or of nobody. */
const others = [
  'cache:doc:state:8',
  'cache:chunk:8',
  'batch:progress:b1',
  'results:celery-task-meta-6',
  'unacked',
  'unacked_index',
  'docs:1',
  'chunks:1',
  'broker:ocr:wait',
]

async function fill(): Promise<Map<string, unknown>> {
  let left = 1_000_000
  for (const name of [...Object.keys(rules), ...others])
    await redis.command('SET', name, name.includes('state') ? state : `of ${name}`, 'PX', (left += 100_000))
  const ends = new Map<string, unknown>()
  for (const name of [...Object.keys(rules), ...others])
    ends.set(name, await redis.command('PEXPIRETIME', name))
  return ends
}

type Work = typeof planMigration

async function counts(work: Work, options: MigrateOptions = {}): Promise<Record<string, number>> {
  return { ...(await work(opened.schema, opened.connection, { maxLoad: 1, ...options })).counts }
}

const names = async () => {
  const [, found] = (await redis.command('SCAN', '0', 'COUNT', '1000')) as [string, string[]]
  return found.filter((name) => name !== 'keyspec:phases').toSorted()
}

test('the document’s rules move every old key once, with the time it has left, and nothing else', async () => {
  const ends = await fill()
  const before = await names()
  const old = Object.keys(rules).length
  expect(await counts(planMigration)).toMatchObject({ waiting: old })
  expect(await names()).toEqual(before)

  expect(await counts(runMigration)).toEqual({ moved: old })
  const after = [...Object.values(rules), ...others].toSorted()
  expect(await names()).toEqual(after)
  for (const [from, to] of Object.entries(rules)) {
    expect(await redis.command('GET', to)).toBe(from.includes('state') ? state : `of ${from}`)
    expect(await redis.command('PEXPIRETIME', to)).toBe(ends.get(from))
  }
  expect((await opened.keys.state({ documentUuid: '7f' }).get())?.name).toBe('a.pdf')

  // Run twice it makes no cache:cache:doc, and sweeps up nothing that it does not know.
  expect(await counts(runMigration)).toEqual({})
  expect(await names()).toEqual(after)
  // The texts above are no JSON: five of the document's six are said to be unreadable, and Celery's are not looked at.
  expect(await counts(verifyMigration)).toEqual({ migrated: old + 3, decoded: 6, undecodable: 5 })

  expect(await counts(rollBackMigration)).toEqual({ moved: old + 3 })
  for (const [from] of Object.entries(rules))
    expect(await redis.command('PEXPIRETIME', from)).toBe(ends.get(from))
  expect(
    await redis.command('EXISTS', 'unacked', 'unacked_index', 'docs:1', 'chunks:1', 'broker:ocr:wait'),
  ).toBe(5)
})

test('a key that a reader has moved or written meanwhile is left to it', async () => {
  await fill()
  await opened.keys.state({ documentUuid: '7f' }).get()
  await redis.command('SET', 'doc:state:7f', 'an older program still writes', 'PX', 50_000)
  expect(await counts(runMigration, { entries: ['state'] })).toEqual({ conflict: 1 })
  expect(await redis.command('GET', 'cache:doc:state:7f')).toBe(state)
  expect(await redis.command('GET', 'doc:state:7f')).toBe('an older program still writes')
})

test('one kind of data is deleted by its prefix, and no other loses a key', async () => {
  await fill()
  const deleted = async (under: string) =>
    (await erase(opened.schema, opened.connection, { under, maxLoad: 1 })).keys
  // `chunk:` is within `cache:chunk:`, and `doc:` within `cache:doc:`.
  const gone = ['chunk:', 'doc:', 'cache:']
  for (const prefix of gone) {
    const before = await names()
    const chosen = before.filter((name) => name.startsWith(prefix))
    expect(chosen.length).toBeGreaterThan(0)
    expect(await deleted(prefix)).toBe(chosen.length)
    expect(await names()).toEqual(before.filter((name) => !chosen.includes(name)))
  }
  // Another program's keys stay, unless they are asked for.
  expect(await deleted('results:')).toBe(0)
  expect(await deleted('broker:')).toBe(0)
  expect(await redis.command('EXISTS', 'results:celery-task-meta-6', 'broker:ocr:wait', 'unacked')).toBe(3)
})
