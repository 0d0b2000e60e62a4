import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Listening } from '@keyspec-systems/program/http'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { sendRaw, survived } from '../../../../test-support/hostile-http.ts'
import type { NewJob } from '../job.ts'
import { type Opened, openMirrulations } from '../keyspace.ts'
import { openStore } from '../storage/store.ts'
import { adoptJobs } from './adopt.ts'
import { beginCounting } from './begin-counting.ts'
import { workServer } from './work-server.ts'

let redis: TemporaryRedis
let opened: Opened
let server: Listening
let folder: string
let base: string

beforeAll(async () => {
  redis = await startRedis()
  opened = await openMirrulations(redis.url, { patienceMs: 500 })
  folder = await mkdtemp(join(tmpdir(), 'mirror-'))
  server = await workServer({
    keys: opened.keys,
    connection: opened.connection,
    store: await openStore(folder),
    leaseMs: opened.keys.jobs().leaseMs,
    source: 'a test <of> it',
    // As the clients of the originals ask; capability.test.ts has what others must prove.
    legacyClients: true,
    maxResultsBytes: 100_000,
  }).listen()
  base = server.url
})

afterAll(async () => {
  await server.close()
  opened.close()
  await redis.stop()
  await rm(folder, { recursive: true })
})

beforeEach(() => redis.command('FLUSHALL'))

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(base + path, {
    method,
    headers,
    ...(text === undefined ? {} : { body: text }),
  })
  const type = response.headers.get('content-type') ?? ''
  const answer: unknown = type.includes('json') ? await response.json() : await response.text()
  return { status: response.status, type, answer }
}

const record = (id: string, files: string[] = []) => ({
  data: {
    id,
    type: 'documents',
    attributes: {
      agencyId: 'EPA',
      docketId: 'EPA-1',
      modifyDate: '2024-09-17T14:30:00Z',
      fileFormats: files.map((fileUrl) => ({ fileUrl, format: 'pdf', size: 1 })),
    },
  },
})

const inDocket = (id: string, docketId: string) => {
  const { data } = record(id)
  return { data: { ...data, attributes: { ...data.attributes, docketId } } }
}

const job: NewJob = {
  url: 'http://x.example/documents/EPA-1-1',
  job_type: 'documents',
  reg_id: 'EPA-1-1',
  agency: 'EPA',
}

async function clientWithJob(given: NewJob = job) {
  await opened.keys.jobs().add([given])
  const { answer } = await ask('GET', '/get_client_id')
  const { client_id } = answer as { client_id: number }
  const { answer: told } = await ask('GET', `/v1/get_job?client_id=${client_id}`)
  return { client: client_id, id: (told as { job: { job_id: number } }).job.job_id }
}

test('each client gets an id of its own', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask('GET', '/get_client_id')))
  expect(new Set(answers.map(({ answer }) => (answer as { client_id: number }).client_id)).size).toBe(20)
  expect(await redis.command('GET', 'total_num_client_ids')).toBe('20')
})

describe('401', () => {
  test.each([
    ['GET', '/v1/get_job'],
    ['PUT', '/put_results'],
    ['PUT', '/v1/put_file?job_id=1&directory=a'],
    ['PUT', '/v1/renew_job?job_id=1'],
    ['PUT', '/v1/return_job?job_id=1'],
  ])('%s %s without a client', async (method, path) => {
    expect(await ask(method, path)).toMatchObject({
      status: 401,
      answer: { error: 'Client ID was not provided' },
    })
  })

  test.each(['0', '2', '-1', '1.0', '01', 'x', '1 OR 1'])('for %j, which no client has', async (id) => {
    await ask('GET', '/get_client_id')
    const { status, answer } = await ask('GET', `/v1/get_job?client_id=${encodeURIComponent(id)}`)
    expect({ status, answer }).toEqual({ status: 401, answer: { error: 'Invalid client ID' } })
  })
})

test('a job is given with all that it carries, and its holder noted', async () => {
  await opened.keys.jobs().add([job])
  await ask('GET', '/get_client_id')
  expect(await ask('GET', '/v1/get_job?client_id=1')).toMatchObject({
    status: 200,
    answer: { job: { job_id: 1, ...job }, lease_ms: 300_000 },
  })
  expect(await redis.command('HGETALL', 'client_jobs')).toEqual(['1', '1'])
})

test('a job of an unknown kind is a job, and what cannot be read does not hide what waits behind it', async () => {
  const waiting = [
    '{"job_id": 7, "url": 3}',
    'http://x.example/of-the-first-generation',
    '{"job_id": 8, "url": "http://x.example/8", "job_type": null}',
  ]
  await redis.command('RPUSH', 'jobs_waiting_queue', ...waiting)
  await ask('GET', '/get_client_id')
  const spoken = vi.spyOn(console, 'error').mockImplementation(() => {})
  expect(await ask('GET', '/v1/get_job?client_id=1')).toMatchObject({
    status: 200,
    answer: { job: { job_id: 8, job_type: null } },
  })
  const words = spoken.mock.calls.flat().join('\n')
  spoken.mockRestore()
  expect(words).toMatch(/job 7 is invalid: .*url/)
  expect(words).toMatch(/job unreadable-\w+ is invalid: .*it names no id/)
  expect(await redis.command('HLEN', 'invalid_jobs')).toBe(2)
  const results = { job_id: 8, results: { error: 'gone' } }
  expect(await ask('PUT', '/put_results?client_id=1', results)).toMatchObject({ status: 200 })
})

test('a token that is wrong is refused to whoever sends one', async () => {
  await ask('GET', '/get_client_id')
  const wrong = { Authorization: 'Bearer wrong' }
  expect(await ask('GET', '/v1/get_job?client_id=1', undefined, wrong)).toMatchObject({ status: 401 })
})

test('an empty queue is answered as such', async () => {
  await ask('GET', '/get_client_id')
  expect(await ask('GET', '/v1/get_job?client_id=1')).toMatchObject({
    status: 403,
    answer: { error: 'There are no jobs available' },
  })
})

test('a client that lost an answer gets the same job again', async () => {
  const { client, id } = await clientWithJob()
  await opened.keys.jobs().add([job])
  const again = await ask('GET', `/v1/get_job?client_id=${client}&again=1`)
  expect(again.answer).toMatchObject({ job: { job_id: id } })
  const next = await ask('GET', `/v1/get_job?client_id=${client}`)
  expect(next.answer).toMatchObject({ job: { job_id: id + 1 } })
})

test('a result is stored, counted once, and brings a job for each of its files', async () => {
  const { client, id } = await clientWithJob()
  const results = record('EPA-1-1', ['http://x.example/EPA-1-1/content.pdf'])
  const body = { job_id: id, directory: '/EPA/EPA-1/text-EPA-1/documents/EPA-1-1.json', results }
  const put = () => ask('PUT', `/put_results?client_id=${client}`, body)
  expect(await put()).toMatchObject({
    status: 200,
    answer: { success: 'The job was successfully completed' },
  })
  const stored = await readFile(join(folder, 'EPA/EPA-1/text-EPA-1/documents/EPA-1-1.json'), 'utf8')
  expect(JSON.parse(stored)).toEqual(results)
  expect(JSON.parse((await redis.command('LINDEX', 'jobs_waiting_queue', 0)) as string)).toEqual({
    job_id: 2,
    url: 'http://x.example/EPA-1-1/content.pdf',
    job_type: 'attachments',
    reg_id: 'EPA-1-1',
    agency: 'EPA',
    directory: 'EPA/EPA-1/binary-EPA-1/documents_attachments/EPA-1-1_content.pdf',
  })
  expect(await put()).toMatchObject({ status: 403 })
  expect(await redis.command('MGET', 'num_documents_done', 'num_jobs_attachments_waiting')).toEqual([
    '1',
    '1',
  ])
})

test('a file is put as it comes, and counted with its job', async () => {
  const directory = 'EPA/EPA-1/binary-EPA-1/comments_attachments/a.pdf'
  const text = 'EPA/EPA-1/text-EPA-1/comments_extracted_text/plain/a_extracted.txt'
  const { client, id } = await clientWithJob({ ...job, job_type: 'attachments', directory })
  const put = (path: string, body: string) =>
    ask('PUT', `/v1/put_file?client_id=${client}&job_id=${id}&directory=${path}`, body)
  const finish = () =>
    ask('PUT', `/put_results?client_id=${client}`, { job_id: id, results: { files: [directory, text] } })
  expect(await put(directory, '%PDF')).toMatchObject({ status: 200, answer: { bytes: 4 } })
  expect(await finish()).toMatchObject({ status: 400, answer: { error: `${text} was never put` } })
  await put(text, 'words')
  expect(await finish()).toMatchObject({ status: 200 })
  expect(
    await redis.command('MGET', 'num_attachments_done', 'num_pdf_attachments_done', 'num_extractions_done'),
  ).toEqual(['1', '1', '1'])
  expect(await redis.command('HGET', 'jobs_done', id)).toBe(JSON.stringify({ directory, bytes: 9 }))
})

test.each([
  { results: { error: 'gone' } },
  { error: 'gone' },
  // As JSON:API, regulations.gov and the clients of the originals say it.
  { results: { errors: [{ status: 404, title: 'gone' }] } },
  { errors: [{ status: 404, title: 'gone' }], directory: -1 },
  { results: { errors: [{ detail: 'gone' }] }, directory: '/EPA/EPA-1/text-EPA-1/documents/EPA-1-1.json' },
  { results: { error: 'gone' }, directory: -1 },
  { error: null, results: { errors: 'gone' }, directory: null },
])('a result that names an error is invalid: %j', async (body) => {
  const { client, id } = await clientWithJob()
  const spoken = vi.spyOn(console, 'error').mockImplementation(() => {})
  expect(await ask('PUT', `/put_results?client_id=${client}`, { job_id: id, ...body })).toMatchObject({
    status: 200,
  })
  expect(spoken.mock.calls.flat().join()).toContain('gone')
  spoken.mockRestore()
  expect(await redis.command('HGETALL', 'invalid_jobs')).toEqual([String(id), job.url])
  expect(await redis.command('EXISTS', 'num_documents_done', 'jobs_in_progress')).toBe(0)
})

test('a job is renewed and given back by its holder', async () => {
  const { client, id } = await clientWithJob()
  await redis.command('ZADD', 'jobs_deadlines', 1, id)
  expect(await ask('PUT', `/v1/renew_job?client_id=${client}&job_id=${id}`)).toMatchObject({ status: 200 })
  expect(Number(await redis.command('ZSCORE', 'jobs_deadlines', id))).toBeGreaterThan(Date.now())
  expect(await ask('PUT', `/v1/return_job?client_id=${client}&job_id=${id}`)).toMatchObject({ status: 200 })
  expect(await redis.command('LLEN', 'jobs_waiting_queue')).toBe(1)
  expect(await ask('PUT', `/v1/renew_job?client_id=${client}&job_id=${id}`)).toMatchObject({ status: 403 })
})

describe('403', () => {
  test('for a job that is not in progress', async () => {
    const { client } = await clientWithJob()
    const body = { job_id: 99, directory: 'EPA/a.json', results: record('EPA-1-1') }
    expect(await ask('PUT', `/put_results?client_id=${client}`, body)).toMatchObject({
      status: 403,
      answer: { error: 'The job being completed was not in progress' },
    })
  })

  test('for a job of another client, whose file is not written either', async () => {
    const { id } = await clientWithJob()
    await ask('GET', '/get_client_id')
    const body = { job_id: id, directory: 'EPA/other.json', results: record('EPA-1-1') }
    expect(await ask('PUT', '/put_results?client_id=2', body)).toMatchObject({ status: 403 })
    expect(
      await ask('PUT', `/v1/put_file?client_id=2&job_id=${id}&directory=EPA/other.json`, 'x'),
    ).toMatchObject({
      status: 403,
    })
    expect(await readdir(folder, { recursive: true })).not.toContain('EPA/other.json')
    expect(await redis.command('HGET', 'client_jobs', id)).toBe('1')
  })

  test.each(['../out.json', '/etc/passwd', 'EPA/../../out.json', 'a\0b', '.hidden', ''])(
    'for the unsafe directory %j',
    async (directory) => {
      const { client, id } = await clientWithJob()
      const body = { job_id: id, directory, results: record('EPA-1-1') }
      expect(await ask('PUT', `/put_results?client_id=${client}`, body)).toMatchObject({ status: 403 })
      expect(await redis.command('HEXISTS', 'jobs_in_progress', id)).toBe(1)
      expect(await redis.command('EXISTS', 'num_documents_done')).toBe(0)
    },
  )
})

describe('where a record stands', () => {
  const finish = async (given: NewJob, results: unknown, directory?: string) => {
    const { client, id } = await clientWithJob(given)
    const answer = await ask('PUT', `/put_results?client_id=${client}`, { job_id: id, directory, results })
    return { ...answer, files: (await readdir(folder, { recursive: true })).toSorted() }
  }
  const place = (id: string) => `EPA/EPA-1/text-EPA-1/documents/${id}.json`
  const numbered = (id: string): NewJob => ({ ...job, url: `http://x.example/documents/${id}`, reg_id: id })

  test('is what the job says, whatever the client calls it', async () => {
    const { status, files } = await finish(numbered('EPA-1-7'), record('EPA-1-7'), place('EPA-1-8'))
    expect(status).toBe(200)
    expect(files).toContain(place('EPA-1-7'))
    expect(files).not.toContain(place('EPA-1-8'))
  })

  test.each([
    ['another record', numbered('EPA-1-9'), record('EPA-1-10')],
    [
      'a record of another kind',
      { ...numbered('EPA-1-9'), job_type: 'comments' } as const,
      record('EPA-1-9'),
    ],
    ['a docket that climbs', numbered('EPA-1-9'), inDocket('EPA-1-9', '../../x')],
    ['a docket of several parts', numbered('EPA-1-9'), inDocket('EPA-1-9', 'a/b')],
  ])('403 for %s', async (_, given, results) => {
    const before = (await readdir(folder, { recursive: true })).toSorted()
    expect(await finish(given, results, place('EPA-1-9'))).toMatchObject({ status: 403, files: before })
  })

  test('is named by its URL where a job of the first generation says no more', async () => {
    const first = (id: string) => ({ url: `http://x.example/v3?documentId=${id}` }) as unknown as NewJob
    expect(await finish(first('EPA-1-11'), record('EPA-1-11'))).toMatchObject({
      status: 200,
      files: expect.arrayContaining([place('EPA-1-11')]),
    })
    expect(await finish(first('EPA-1-12'), record('EPA-1-11'))).toMatchObject({ status: 403 })
    // Records of its API have another form.
    const old = { documentId: { value: 'EPA-1-13' } }
    const { status, files } = await finish(first('EPA-1-13'), old, 'EPA/EPA-1-13/EPA-1-13.json')
    expect(status).toBe(200)
    expect(files).toContain('EPA/EPA-1-13/EPA-1-13.json')
    expect(await finish(first('EPA-1-14'), old, 'EPA/EPA-1-13/EPA-1-13.json')).toMatchObject({ status: 403 })
  })

  test('is the job’s own for what is no record of the API', async () => {
    const { status, files } = await finish(numbered('EPA-2-15'), { old: true }, 'EPA/x.json')
    expect(status).toBe(200)
    expect(files).toContain('EPA/EPA-2/text-EPA-2/documents/EPA-2-15.json')
    expect(files).not.toContain('EPA/x.json')
  })

  test('and files of a job stand at its own places only', async () => {
    const directory = 'EPA/EPA-1/binary-EPA-1/comments_attachments/mine.pdf'
    const other = directory.replace('mine', 'other')
    const { client, id } = await clientWithJob({ ...job, job_type: 'attachments', directory })
    const put = (path: string) =>
      ask('PUT', `/v1/put_file?client_id=${client}&job_id=${id}&directory=${path}`, 'x')
    for (const path of [other, place('EPA-1-7'), '../out.pdf']) expect((await put(path)).status).toBe(403)
    expect((await put(directory)).status).toBe(200)
    expect(
      await ask('PUT', `/put_results?client_id=${client}`, { job_id: id, results: { files: [other] } }),
    ).toMatchObject({ status: 403 })
    const record = await clientWithJob(numbered('EPA-1-16'))
    const query = `client_id=${record.client}&job_id=${record.id}&directory=${place('EPA-1-16')}`
    expect((await ask('PUT', `/v1/put_file?${query}`, 'x')).status).toBe(403)
  })
})

describe('400', () => {
  test.each([
    ['no JSON', '{"job_id": 1'],
    ['nothing', ''],
    ['no job', '{}'],
    ['no results', '{"job_id": 1, "directory": "EPA/a.json"}'],
    ['no directory', '{"job_id": 1, "results": {}}'],
    ['a list', '[]'],
  ])('for a body with %s', async (_, body) => {
    const { client } = await clientWithJob()
    expect(await ask('PUT', `/put_results?client_id=${client}`, body)).toMatchObject({ status: 400 })
  })

  test('for a file without a place', async () => {
    const { client } = await clientWithJob()
    expect(await ask('PUT', `/v1/put_file?client_id=${client}&job_id=1`, 'x')).toMatchObject({ status: 400 })
  })
})

test('413 for a body without end, 404 and 405 for what there is not', async () => {
  const { client } = await clientWithJob()
  expect(await ask('PUT', `/put_results?client_id=${client}`, 'x'.repeat(100_001))).toMatchObject({
    status: 413,
  })
  expect(await ask('GET', '/nothing')).toMatchObject({ status: 404 })
  expect(await ask('POST', '/v1/get_job')).toMatchObject({ status: 405 })
})

describe('clients of the originals', () => {
  const queued = { ...job, job_id: 5, directory: 'x' }
  beforeEach(async () => {
    await redis.command('RPUSH', 'jobs_waiting_queue', JSON.stringify(queued))
    await ask('GET', '/get_client_id')
  })

  test('of both generations read what they are given', async () => {
    const { answer } = await ask('GET', '/get_job?client_id=1')
    // The first takes the URL and the type from `job`, the later ones all from beside it.
    expect(answer).toEqual({
      ...queued,
      job: { 5: job.url, job_type: 'documents' },
      job_id: '5',
      lease_ms: 300_000,
      token: expect.any(String),
    })
  })

  test('are given a job of an unknown kind as they gave it', async () => {
    await redis.command('DEL', 'jobs_waiting_queue')
    await redis.command('RPUSH', 'jobs_waiting_queue', '{"job_id": 6, "url": "u", "job_type": null}')
    expect((await ask('GET', '/get_job?client_id=1')).answer).toMatchObject({
      job: { 6: 'u', job_type: 'other' },
      job_id: '6',
      url: 'u',
      job_type: 'other',
      reg_id: null,
      agency: null,
    })
  })

  test('bring a record as text in JSON, and the id of its job as they were given it', async () => {
    await ask('GET', '/get_job?client_id=1')
    const results = {
      job_id: '5',
      directory: '/EPA/EPA-1/text-EPA-1/documents/EPA-1-1.json',
      results: record('EPA-1-1'),
    }
    const text = JSON.stringify(JSON.stringify(results))
    expect(await ask('PUT', '/put_results?client_id=1', text)).toMatchObject({ status: 200 })
    expect(await redis.command('HKEYS', 'jobs_done')).toEqual(['5'])
  })
})

describe('a job that a program of the originals has in progress, as its URL', () => {
  const url = 'http://x.example/documents/EPA-1-20'
  beforeEach(async () => {
    for (let client = 0; client < 3; client += 1) await ask('GET', '/get_client_id')
    await redis.command('HSET', 'jobs_in_progress', '5', url, '6', `${url}1`)
    await redis.command('HSET', 'client_jobs', '5', '2', '6', '3')
  })
  const done = { job_id: 5, directory: 'EPA/a.json', results: record('EPA-1-20') }
  const lease = async () => Number(await redis.command('ZSCORE', 'jobs_deadlines', '5'))

  test('is finished by its client, and stands where its URL says', async () => {
    expect(await ask('PUT', '/put_results?client_id=2', done)).toMatchObject({ status: 200 })
    expect(await redis.command('HKEYS', 'jobs_done')).toEqual(['5'])
    expect(await redis.command('HKEYS', 'jobs_in_progress')).toEqual(['6'])
    expect(await readdir(join(folder, 'EPA/EPA-1/text-EPA-1/documents'))).toContain('EPA-1-20.json')
  })

  test('may be invalid, and is given again to the client that asks for it', async () => {
    const again = await ask('GET', '/v1/get_job?client_id=2&again=1')
    expect(again).toMatchObject({ status: 200, answer: { job: { job_id: '5', url } } })
    const error = { job_id: '5', results: { error: 'gone' } }
    expect(await ask('PUT', '/put_results?client_id=2', error)).toMatchObject({ status: 200 })
    expect(await redis.command('HGETALL', 'invalid_jobs')).toEqual(['5', url])
  })

  test('has a lease from the first sight on, which its client renews', async () => {
    expect(await adoptJobs(opened)).toBe(2)
    expect(await lease()).toBeGreaterThan(Date.now())
    await redis.command('ZADD', 'jobs_deadlines', 1, '5')
    expect(await ask('PUT', '/v1/renew_job?client_id=2&job_id=5')).toMatchObject({ status: 200 })
    expect(await lease()).toBeGreaterThan(Date.now())
    expect(await adoptJobs(opened)).toBe(0)
    expect(await ask('PUT', '/put_results?client_id=3', done)).toMatchObject({ status: 403 })
  })

  test('waits again under its id when its lease runs out, and when it is given back', async () => {
    await adoptJobs(opened)
    await redis.command('ZADD', 'jobs_deadlines', 2, '5')
    expect((await opened.keys.jobs().recoverExpired()).returned).toEqual(['5'])
    expect(await ask('PUT', '/v1/return_job?client_id=3&job_id=6')).toMatchObject({ status: 200 })
    for (const [id, its] of [
      [6, `${url}1`],
      [5, url],
    ])
      expect((await ask('GET', '/v1/get_job?client_id=1')).answer).toMatchObject({
        job: { job_id: id, url: its },
      })
    expect(await redis.command('EXISTS', 'invalid_jobs')).toBe(0)
  })

  test('that was seen by a work server that died before it had a lease gets one from the next', async () => {
    await adoptJobs(opened)
    await redis.command('DEL', 'jobs_deadlines')
    expect(await adoptJobs(opened)).toBe(0)
    expect(await lease()).toBeGreaterThan(Date.now())
  })

  test('is not done again where its result is there already', async () => {
    await redis.command('HSET', 'jobs_done', '5', 'the result of an original')
    expect(await adoptJobs(opened)).toBe(1)
    expect(await redis.command('HKEYS', 'jobs_in_progress')).toEqual(['6'])
    expect(await redis.command('HKEYS', 'client_jobs')).toEqual(['6'])
    expect(await redis.command('ZRANGE', 'jobs_deadlines', 0, -1)).toEqual(['6'])
  })

  test('may have an id that is no number, and a text that is no URL', async () => {
    await redis.command('HSET', 'jobs_in_progress', 'a"b', 'not "a" URL\u0001')
    await redis.command('HSET', 'client_jobs', 'a"b', '1')
    expect(await adoptJobs(opened)).toBe(3)
    const id = encodeURIComponent('a"b')
    expect(await ask('PUT', `/v1/return_job?client_id=1&job_id=${id}`)).toMatchObject({ status: 200 })
    expect((await ask('GET', '/v1/get_job?client_id=1')).answer).toMatchObject({
      job: { job_id: 'a"b', url: 'not "a" URL\u0001' },
    })
  })
})

test('500 while Redis is down or does not answer, and all is well again after', async () => {
  const { client, id } = await clientWithJob()
  const spoken = vi.spyOn(console, 'error').mockImplementation(() => {})
  redis.pause()
  const body = { job_id: id, directory: 'EPA/EPA-1/a.json', results: record('EPA-1-1') }
  expect(await ask('PUT', `/put_results?client_id=${client}`, body)).toMatchObject({
    status: 500,
    answer: { error: 'Cannot connect to the database' },
  })
  redis.resume()
  await vi.waitFor(async () => expect(await ask('GET', '/data')).toMatchObject({ status: 200 }), 10_000)
  expect(await ask('PUT', `/put_results?client_id=${client}`, body)).toMatchObject({ status: 200 })

  await redis.kill()
  for (const path of ['/get_client_id', '/data', '/v1/get_job?client_id=1']) {
    expect(await ask('GET', path)).toMatchObject({
      status: 500,
      answer: { error: 'Cannot connect to the database' },
    })
  }
  await redis.restart()
  await vi.waitFor(async () => expect(await ask('GET', '/data')).toMatchObject({ status: 200 }), 10_000)
  spoken.mockRestore()
})

test('/data has the names of the originals beside ours', async () => {
  await clientWithJob()
  await opened.keys.jobs().add([job, { ...job, job_type: 'comments' }])
  await redis.command('MSET', 'num_documents_done', '3', 'num_dockets_done', '2')
  expect((await ask('GET', '/data')).answer).toMatchObject({
    num_jobs_waiting: 2,
    num_jobs_in_progress: 1,
    num_jobs_done: 5,
    jobs_total: 8,
    clients_total: 1,
    num_jobs_documents_queued: 1,
    num_jobs_comments_queued: 1,
    num_jobs_dockets_queued: 0,
    num_jobs_attachments_queued: 0,
  })
})

test.each([
  ['regulations_total_dockets', '10.5', ['regulations_total_dockets']],
  ['dockets_last_timestamp', '2024-09-17T14:30:00Z', ['dockets_last_timestamp']],
  ['total_num_client_ids', 'many', ['total_num_client_ids', 'clients_total']],
  ['num_comments_done', '10.5', ['num_comments_done', 'jobs_done', 'num_jobs_done', 'jobs_total']],
])('%s as %j costs what it says, and no other statistic', async (key, value, lost) => {
  const before = (await ask('GET', '/data')).answer as Record<string, unknown>
  await redis.command('SET', key, value)
  const { status, answer } = await ask('GET', '/data')
  const expected = Object.entries(before).map(([name, was]) => [name, lost.includes(name) ? null : was])
  expect({ status, answer }).toEqual({ status: 200, answer: Object.fromEntries(expected) })
})

test('a counter of another type costs the statistics of the queue', async () => {
  await redis.command('LPUSH', 'num_jobs_comments_waiting', 'of the first generation')
  await redis.command('SET', 'regulations_total_dockets', '7')
  const { status, answer } = await ask('GET', '/data')
  expect(status).toBe(200)
  expect(answer).toMatchObject({ regulations_total_dockets: 7, jobs_waiting: null, num_dockets_done: null })
})

test('counters are there from the start, and what was counted stays', async () => {
  await redis.command('SET', 'num_dockets_done', '7')
  await beginCounting(opened)
  const names = [
    'num_dockets_done',
    'num_jobs_comments_waiting',
    'num_extractions_done',
    'regulations_total_dockets',
  ]
  expect(await redis.command('MGET', ...names)).toEqual(['7', '0', '0', '0'])
})

test('/data is JSON, and a page for whoever prefers one', async () => {
  await clientWithJob()
  const json = await ask('GET', '/data')
  expect(json.answer).toMatchObject({
    jobs_in_progress: 1,
    jobs_waiting: 0,
    total_num_client_ids: 1,
    num_documents_done: 0,
  })
  expect(
    (await ask('GET', '/data', undefined, { Accept: 'application/json, text/html;q=0.9' })).type,
  ).toContain('json')
  const page = await ask('GET', '/data', undefined, { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
  expect(page.type).toContain('text/html')
  expect(page.answer).toContain('Mirrored from a test &lt;of&gt; it.')
})

test('no request ends it, and it is ready while Redis answers', async () => {
  expect(await survived(base)).toEqual([])
  // A page elsewhere can name an address of this machine in an image.
  for (const path of [
    '/get_client_id',
    '/get_job?client_id=1',
    '/v1/get_client_id',
    '/v1/get_job?client_id=1',
  ]) {
    const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n`
    expect(await sendRaw(base, Buffer.from(request)), path).toMatch(/^HTTP\/1\.1 403/)
  }
  expect((await fetch(`${base}/readyz`)).status).toBe(200)
})
