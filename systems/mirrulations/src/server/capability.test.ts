import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Listening } from '@keyspec-systems/program/http'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { NewJob } from '../job.ts'
import { type Opened, openMirrulations } from '../keyspace.ts'
import { openStore } from '../storage/store.ts'
import { workServer } from './work-server.ts'

let redis: TemporaryRedis
let opened: Opened
let folder: string
let servers: Listening[]

beforeAll(async () => {
  redis = await startRedis()
  opened = await openMirrulations(redis.url)
  folder = await mkdtemp(join(tmpdir(), 'mirror-'))
  const store = await openStore(folder)
  const options = {
    keys: opened.keys,
    connection: opened.connection,
    store,
    leaseMs: 1_000,
    source: 'a test',
  }
  servers = await Promise.all([options, options].map((each) => workServer(each).listen()))
})

afterAll(async () => {
  for (const server of servers) await server.close()
  opened.close()
  await redis.stop()
  await rm(folder, { recursive: true })
})

beforeEach(() => redis.command('FLUSHALL'))

interface Told {
  readonly client_id: number
  readonly token: string
  readonly job: { readonly job_id: number }
}

async function ask(
  method: string,
  path: string,
  token?: string,
  body?: unknown,
): Promise<{ status: number; answer: Partial<Told> & { readonly error?: string } }> {
  const response = await fetch(servers[0]!.url + path, {
    method,
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, answer: (await response.json()) as Told }
}

const jobFor = (id: string): NewJob => ({
  url: `http://x.example/documents/${id}`,
  job_type: 'documents',
  reg_id: id,
  agency: 'EPA',
})

const record = (id: string) => ({
  data: { id, type: 'documents', attributes: { agencyId: 'EPA', docketId: 'EPA-1' } },
})

async function clientWithJob(id: string) {
  await opened.keys.jobs().add([jobFor(id)])
  const { answer: client } = await ask('GET', '/v1/get_client_id')
  const { answer: given } = await ask('GET', `/v1/get_job?client_id=${client.client_id}`, client.token)
  return {
    client: client.client_id!,
    token: client.token!,
    id: given.job!.job_id,
    lease: given.token!,
  }
}

const aboutJob = ({ client, id }: { client: number; id: number }) => `client_id=${client}&job_id=${id}`

const verbs = ['put_results', 'put_file', 'renew_job', 'return_job'] as const
const queryOf = (verb: string, held: { client: number; id: number }) =>
  `/v1/${verb}?${aboutJob(held)}${verb === 'put_file' ? '&directory=a' : ''}`

test('a client with its tokens does its job', async () => {
  const held = await clientWithJob('EPA-1-1')
  expect((await ask('PUT', queryOf('renew_job', held), held.lease)).status).toBe(200)
  const body = { job_id: held.id, results: record('EPA-1-1') }
  expect((await ask('PUT', queryOf('put_results', held), held.lease, body)).status).toBe(200)
  expect(await readdir(join(folder, 'EPA/EPA-1/text-EPA-1/documents'))).toContain('EPA-1-1.json')
})

test('nobody gets jobs by the number of a client alone, not those that it holds either', async () => {
  const held = await clientWithJob('EPA-1-2')
  const other = await ask('GET', '/v1/get_client_id')
  for (const again of ['', '&again=1'])
    for (const token of [undefined, '', other.answer.token, held.lease, `${held.token}x`])
      expect(await ask('GET', `/v1/get_job?client_id=${held.client}${again}`, token)).toMatchObject({
        status: 401,
      })
  const { answer } = await ask('GET', `/v1/get_job?client_id=${held.client}&again=1`, held.token)
  expect(answer).toMatchObject({ job: { job_id: held.id }, token: held.lease })
})

test.each(verbs)('%s needs the token of that job and of that client', async (verb) => {
  const held = await clientWithJob('EPA-1-3')
  const other = await clientWithJob('EPA-1-4')
  const before = await redis.command('HGETALL', 'client_jobs')
  expect(await ask('PUT', queryOf(verb, held))).toMatchObject({ status: 401 })
  for (const token of ['', held.token, other.token, other.lease])
    expect(await ask('PUT', queryOf(verb, held), token)).toMatchObject({ status: 403 })
  expect(await redis.command('HGETALL', 'client_jobs')).toEqual(before)
})

test('a token speaks of its job alone, whatever the body says', async () => {
  const held = await clientWithJob('EPA-1-5')
  const other = await clientWithJob('EPA-1-6')
  const body = { job_id: other.id, results: { error: 'gone' } }
  expect(await ask('PUT', queryOf('put_results', held), held.lease, body)).toMatchObject({ status: 400 })
  expect(await redis.command('HLEN', 'jobs_in_progress')).toBe(2)
})

test('a job that has come to another is no longer its first holder’s, with or without its token', async () => {
  const late = await clientWithJob('EPA-1-7')
  await opened.keys.jobs().release(late.client, [late.id])
  const { answer: next } = await ask('GET', '/v1/get_client_id')
  await ask('GET', `/v1/get_job?client_id=${next.client_id}`, next.token)
  const body = { job_id: late.id, results: record('EPA-1-7') }
  expect(await ask('PUT', queryOf('put_results', late), late.lease, body)).toMatchObject({ status: 403 })
  expect(await ask('PUT', queryOf('put_file', late), late.lease)).toMatchObject({ status: 403 })
})

test('tokens hold at every work server of one Redis, and none outlives its database', async () => {
  const { client, token } = await clientWithJob('EPA-1-8')
  const path = `/v1/get_job?client_id=${client}&again=1`
  const elsewhere = () =>
    fetch(servers[1]!.url + path, { headers: { Authorization: `Bearer ${token}` } }).then(
      ({ status }) => status,
    )
  expect(await elsewhere()).toBe(200)
  await redis.command('FLUSHALL')
  await ask('GET', '/v1/get_client_id')
  expect(await elsewhere()).toBe(401)
})

test('servers that make the secret at once make one', async () => {
  const told = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      fetch(`${servers[at % 2]!.url}/get_client_id`).then((response) => response.json() as Promise<Told>),
    ),
  )
  for (const { client_id, token } of told)
    expect((await ask('GET', `/v1/get_job?client_id=${client_id}`, token)).answer.error).toBe(
      'There are no jobs available',
    )
})

/** What a request is answered whose head says that a large body comes, of which nothing is sent. */
async function answerToHead(path: string, headers: string): Promise<string> {
  const { port } = new URL(servers[0]!.url)
  const socket = connect(Number(port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write(`PUT ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n${headers}\r\n`)
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString()))
  await vi.waitFor(() => expect(text).toContain('\r\n\r\n'), 20_000)
  return text.slice(0, 12)
}

test('whoever may not bring a body is told so before it is read', async () => {
  const held = await clientWithJob('EPA-1-9')
  const other = await clientWithJob('EPA-1-10')
  for (const verb of ['put_results', 'put_file']) {
    expect(await answerToHead(queryOf(verb, held), '')).toBe('HTTP/1.1 401')
    expect(await answerToHead(queryOf(verb, held), `Authorization: Bearer ${other.lease}\r\n`)).toBe(
      'HTTP/1.1 403',
    )
  }
  // Without the job in the query nobody knows whose it is.
  expect(
    await answerToHead(`/v1/put_results?client_id=${held.client}`, `Authorization: Bearer ${held.lease}\r\n`),
  ).toBe('HTTP/1.1 400')
})

test('eight records are taken at once, and one more is asked to come again', async () => {
  const held = await clientWithJob('EPA-1-11')
  const { port } = new URL(servers[0]!.url)
  const head =
    `PUT ${queryOf('put_results', held)} HTTP/1.1\r\nHost: localhost\r\n` +
    `Authorization: Bearer ${held.lease}\r\nContent-Length: 9\r\n\r\n{`
  const slow = Array.from({ length: 8 }, () => connect(Number(port), '127.0.0.1'))
  onTestFinished(() => slow.forEach((socket) => void socket.destroy()))
  for (const socket of slow) socket.write(head)
  const body = { job_id: held.id, results: record('EPA-1-11') }
  const more = () => ask('PUT', queryOf('put_results', held), held.lease, { ...body, job_id: 0 })
  await vi.waitFor(async () => expect((await more()).status).toBe(503), 20_000)
  for (const socket of slow) socket.destroy()
  await vi.waitFor(
    async () => expect((await ask('PUT', queryOf('put_results', held), held.lease, body)).status).toBe(200),
    20_000,
  )
}, 60_000)
