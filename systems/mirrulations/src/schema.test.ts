import { open } from 'keyspec'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Opened, openMirrulations } from './keyspace.ts'
import { mirrulations } from './schema.ts'

let redis: TemporaryRedis
let opened: Opened

beforeAll(async () => {
  redis = await startRedis()
  opened = await openMirrulations(redis.url)
})

afterAll(async () => {
  opened.close()
  await redis.stop()
})

// The names are fixed, so every test begins with an empty server of its own.
beforeEach(() => redis.command('FLUSHALL'))

const docket = {
  url: 'https://api.regulations.gov/v4/dockets/EPA-1',
  job_type: 'dockets',
  reg_id: 'EPA-1',
  agency: 'EPA',
} as const

test('the schema owns every key of the document, and five of its own', () => {
  const keys = Object.values(mirrulations).flatMap((kind) => kind.keys)
  const types = new Map(keys.map((spec) => [spec.pattern.text, spec.type]))
  const strings = [
    'last_job_id',
    'total_num_client_ids',
    'dockets_last_timestamp',
    'documents_last_timestamp',
    'comments_last_timestamp',
    'last_timestamp',
    ...['dockets', 'documents', 'comments', 'attachments', 'pdf_attachments', 'extractions'].map(
      (kind) => `num_${kind}_done`,
    ),
    ...['dockets', 'documents', 'comments', 'attachments'].map((kind) => `num_jobs_${kind}_waiting`),
    ...['dockets', 'documents', 'comments'].map((kind) => `regulations_total_${kind}`),
    'mirrulations_bucket_size',
    'work_server_secret',
    ...['dockets', 'documents', 'comments'].map((kind) => `num_jobs_num_jobs_${kind}_queue_queue`),
    'num_pdf_attachment_done',
  ]
  expect(Object.fromEntries(types)).toEqual({
    jobs_waiting_queue: 'list',
    jobs_in_progress: 'hash',
    jobs_done: 'hash',
    client_jobs: 'hash',
    invalid_jobs: 'hash',
    ...Object.fromEntries(strings.map((name) => [name, 'string'])),
    jobs_deadlines: 'zset',
    jobs_attempts: 'hash',
    jobs_done_at: 'zset',
    jobs_added: 'zset',
  })
  expect(keys.flatMap(({ renamedFrom }) => renamedFrom.map(({ text }) => text))).toEqual([
    'last_client_id',
    'docket_last_timestamp',
    'document_last_timestamp',
    'comment_last_timestamp',
    'MIRRULATION_BUCKET_SIZE',
  ])
  for (const { lifetime } of keys) expect(lifetime).toMatchObject({ ttlMs: 'forever', reason: /\w/ })
})

test('a job is written as the document has it', async () => {
  const { keys } = opened
  await keys.jobs().add([docket, { ...docket, job_type: 'attachments', agency: null, directory: 'a/b' }])
  expect(await redis.command('LRANGE', 'jobs_waiting_queue', 0, -1)).toEqual([
    '{"job_id":1,"url":"https://api.regulations.gov/v4/dockets/EPA-1","job_type":"dockets","reg_id":"EPA-1","agency":"EPA"}',
    '{"job_id":2,"url":"https://api.regulations.gov/v4/dockets/EPA-1","job_type":"attachments","reg_id":"EPA-1","agency":null,"directory":"a/b"}',
  ])
  expect(await redis.command('GET', 'last_job_id')).toBe('2')
  expect(await redis.command('MGET', 'num_jobs_dockets_waiting', 'num_jobs_attachments_waiting')).toEqual([
    '1',
    '1',
  ])

  await keys.jobs().take(7, 2)
  expect(await redis.command('HGET', 'jobs_in_progress', 1)).toContain('"job_id":1')
  expect(await redis.command('HGETALL', 'client_jobs')).toEqual(['1', '7', '2', '7'])
  expect(await redis.command('ZCARD', 'jobs_deadlines')).toBe(2)
  await keys.jobs().complete(7, { id: 1, result: { directory: 'EPA/EPA-1', bytes: 5 } })
  await keys.jobs().fail(7, [2], 'gone')
  expect(await redis.command('HGETALL', 'jobs_done')).toEqual(['1', '{"directory":"EPA/EPA-1","bytes":5}'])
  expect(await redis.command('HGETALL', 'invalid_jobs')).toEqual(['2', docket.url])
  expect(await redis.command('EXISTS', 'jobs_in_progress', 'client_jobs', 'jobs_deadlines')).toBe(0)
  expect(await redis.command('MGET', 'num_dockets_done', 'num_attachments_done')).toEqual(['1', null])
})

test('a job that a Python program has written is taken, and goes back as it was', async () => {
  const { keys } = opened
  const written =
    '{"job_id": 41, "url": "https://x.example/d", "job_type": "comments", "extra": [1.50, "\\u00e9"]}'
  await redis.command('RPUSH', 'jobs_waiting_queue', written)
  await redis.command('SET', 'num_jobs_comments_waiting', '1')
  const [taken] = await keys.jobs().take('3')
  expect(taken).toEqual({ id: '41', job: JSON.parse(written) })
  expect(await redis.command('HGETALL', 'jobs_in_progress')).toEqual(['41', written])
  await keys.jobs().release('3', [41])
  expect(await redis.command('LRANGE', 'jobs_waiting_queue', 0, -1)).toEqual([written])
  expect(await redis.command('GET', 'num_jobs_comments_waiting')).toBe('1')
})

describe('other spellings', () => {
  test.each([
    ['docket_last_timestamp', 'dockets_last_timestamp', () => opened.keys.docketsSeen().get()],
    ['document_last_timestamp', 'documents_last_timestamp', () => opened.keys.documentsSeen().get()],
    ['comment_last_timestamp', 'comments_last_timestamp', () => opened.keys.commentsSeen().get()],
  ])('%s is read where only it exists', async (old, name, get) => {
    await redis.command('SET', old, '2024-09-17 14:30:00')
    expect(await get()).toEqual(new Date('2024-09-17T14:30:00Z'))
    // Where a program that knows only the old spelling still writes, nothing says which of the two counts.
    await redis.command('MSET', old, '2001-01-01 00:00:00', name, '2024-09-18 00:00:00')
    await expect(get()).rejects.toMatchObject({ code: 'E_TWO_NAMES', key: name })
    await redis.command('DEL', old)
    expect(await get()).toEqual(new Date('2024-09-18T00:00:00Z'))
  })

  test('client ids go on from last_client_id, and never repeat', async () => {
    await redis.command('SET', 'last_client_id', 41)
    expect(await opened.keys.clients().next()).toBe(42)
    expect(await redis.command('GET', 'total_num_client_ids')).toBe('42')
  })

  test('the size of the bucket is read from its old name', async () => {
    await redis.command('SET', 'MIRRULATION_BUCKET_SIZE', 1024)
    expect(await opened.keys.bucketSize().get()).toBe(1024)
  })
})

test('a watermark is written as the document has it, and never moves back', async () => {
  const { keys } = opened
  await keys.docketsSeen().advance(new Date('2024-09-17T14:30:05Z'))
  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      keys.docketsSeen().advance(new Date(Date.UTC(2024, 0, index + 1))),
    ),
  )
  expect(await redis.command('GET', 'dockets_last_timestamp')).toBe('2024-09-17 14:30:05')
  expect(await redis.command('TTL', 'dockets_last_timestamp')).toBe(-1)
})

test('what old programs left behind is read, and there is no way to write it', async () => {
  await redis.command('SET', 'num_pdf_attachment_done', '17')
  expect(await opened.keys.oldPdfAttachments().get()).toBe(17)
  // @ts-expect-error what is left behind is never written
  void (() => opened.keys.oldPdfAttachments().set(1))
})

test('opens only where its keys, which share no hash tag, share a server', () => {
  const cluster = { ...opened.connection, cluster: true }
  expect(() => open(mirrulations, cluster)).toThrow('jobs_waiting_queue')
})
