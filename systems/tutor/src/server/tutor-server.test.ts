import { openModel } from '@keyspec-systems/model'
import { serveStandIn, startModelStandIn } from '@keyspec-systems/model/stand-in'
import { eventually, startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

import { survived } from '../../../../test-support/hostile-http.ts'
import { openTutor, type Opened, type RedisSettings } from '../keyspace.ts'
import { openReader } from '../reading/reader.ts'
import { sample } from '../resource/sample.ts'
import type { Session } from '../shape/session.ts'
import { openTranscripts } from '../transcript/endpoint.ts'
import { openOcr } from '../upload/ocr.ts'
import { tutorServer } from './tutor-server.ts'
import type { Answered } from './tutoring.ts'

let redis: TemporaryRedis
const reader = openReader()

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(async () => {
  reader.close()
  await redis.stop()
})

let users = 0
const newUser = () => `user-${(users += 1)}`

test('a session is opened once, read, and closed with all that belongs to it', async () => {
  const { call } = await service()
  const user = newUser()
  expect((await call('GET', `/sessions/${user}`)).status).toBe(404)
  const opened = await Promise.all([1, 2, 3].map(() => call('POST', '/sessions', { user_id: user })))
  expect(opened.map(({ status }) => status).toSorted()).toEqual([200, 200, 201])
  const body = opened[0]!.body as Session
  expect(new Set(opened.map((each) => (each.body as Session).session_id)).size).toBe(1)
  expect((await call('GET', `/sessions/${user}`)).body).toEqual(body)
  await addFile(call, user, 'lantern-revolt.md')
  await call('POST', `/sessions/${user}/questions`, { question: 'What was the Lantern Revolt?' })
  await call('POST', `/sessions/${user}/suggestions`)
  expect((await call('DELETE', `/sessions/${user}`)).status).toBe(204)
  for (const key of [`session:${user}`, `anchor:${body.session_id}`, `topic_history:${body.session_id}`]) {
    expect(await redis.command('EXISTS', key)).toBe(0)
  }
  expect(await redis.command('EXISTS', `suggestions:${body.session_id}`)).toBe(0)
})

test('a question on the topic is answered, one beside it is not, and a new topic is noted', async () => {
  const { call, opened } = await service()
  const user = newUser()
  const { session_id: id } = (await call('POST', '/sessions', { user_id: user })).body as Session
  await addFile(call, user, 'lantern-revolt.md')
  await addFile(call, user, 'moss-clocks.txt')
  const ask = async (question: string, new_topic = false) =>
    (await call('POST', `/sessions/${user}/questions`, { question, new_topic })).body as Answered

  const first = await ask('What started the Lantern Revolt?')
  expect(first).toMatchObject({ decision: 'related', turn_count: 1, missing_resources: [] })
  expect(first.answer).toMatch(/salt|lantern/i)
  expect(first.model).toMatch(/^embedded:/)
  expect(first.sources[0]).toMatch(/^ocr:[0-9a-f]{64}:lantern-revolt\.md$/)
  expect(await ask('How do I bake sourdough bread at home?')).toMatchObject({
    decision: 'unrelated',
    answer: null,
    topic: first.topic,
    turn_count: 2,
  })
  const moved = await ask('How does a moss clock work?', true)
  expect(moved).toMatchObject({ decision: 'related', turn_count: 3 })
  expect(moved.topic.id).not.toBe(first.topic.id)
  const { topics } = (await call('GET', `/sessions/${user}/history`)).body as { topics: { id: string }[] }
  expect(topics.map((topic) => topic.id)).toEqual([moved.topic.id, first.topic.id])
  expect(await redis.command('LLEN', `topic_history:${id}`)).toBe(2)
  expect((await opened.keys.session({ userId: user }).get())?.topic_anchor?.id).toBe(moved.topic.id)
})

test('what was asked before is answered from the caches', async () => {
  const { call, opened } = await service()
  const user = newUser()
  await call('POST', '/sessions', { user_id: user })
  const upload = () =>
    call('POST', `/sessions/${user}/files?name=a.txt`, undefined, `The moss clock of ${user} tells the time.`)
  expect((await upload()).body).toEqual((await upload()).body)
  expect(opened.keys.ocr.stats()).toMatchObject({ loads: 1, hits: 1 })
  const question = { question: `How does a moss clock tell the time to ${user}?` }
  const one = (await call('POST', `/sessions/${user}/questions`, question)).body as Answered
  const loads = () => (['embedding', 'abcr', 'llm'] as const).map((name) => opened.keys[name].stats().loads)
  const before = loads()
  const two = (await call('POST', `/sessions/${user}/questions`, question)).body as Answered
  expect(loads()).toEqual(before)
  expect(two).toEqual({ ...one, turn_count: 2 })
})

test('turns at once are all counted', async () => {
  const { call } = await service()
  const user = newUser()
  await call('POST', '/sessions', { user_id: user })
  const answers = await Promise.all(
    Array.from({ length: 15 }, (_, at) =>
      call('POST', `/sessions/${user}/questions`, { question: `Why is the sky number ${at} blue?` }),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(15).fill(200))
  expect(((await call('GET', `/sessions/${user}`)).body as Session).turn_count).toBe(15)
})

test('suggestions are shown once', async () => {
  const { call } = await service()
  const user = newUser()
  await call('POST', '/sessions', { user_id: user })
  await addFile(call, user, 'lantern-revolt.md')
  const all: string[] = []
  for (;;) {
    const { body } = await call('POST', `/sessions/${user}/suggestions`, { most: 2 })
    const { suggestions } = body as { suggestions: string[] }
    if (suggestions.length === 0) break
    all.push(...suggestions)
  }
  expect(all.length).toBeGreaterThan(2)
  expect(new Set(all).size).toBe(all.length)
})

test('the limit is told in headers, and a refusal is a problem document', async () => {
  const { call } = await service()
  const user = newUser()
  await call('POST', '/sessions', { user_id: user })
  const path = `/sessions/${user}/files?name=a.txt`
  const answers = await Promise.all(
    Array.from({ length: 9 }, () => call('POST', path, undefined, 'some text')),
  )
  const admitted = answers.filter(({ status }) => status === 200)
  expect(admitted).toHaveLength(5)
  for (const { headers } of admitted) {
    expect(headers.get('ratelimit-policy')).toBe('"file_upload";q=5;w=60')
    expect(headers.get('ratelimit')).toMatch(/^"file_upload";r=[0-4];t=(?:60|[1-5]\d)$/)
    expect(headers.get('retry-after')).toBeNull()
  }
  const refused = answers.find(({ status }) => status === 429)!
  expect(refused.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  expect(refused.headers.get('ratelimit')).toMatch(/^"file_upload";r=0;t=\d+$/)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(refused.body).toMatchObject({
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    status: 429,
    'violated-policies': ['file_upload'],
  })
  expect(await redis.command('ZCARD', `rate:${user}:file_upload`)).toBe(5)
})

test('limits that are switched off say so in each answer and in the health', async () => {
  const { call } = await service({ settings: { rateLimitEnabled: false } })
  const user = newUser()
  await call('POST', '/sessions', { user_id: user })
  for (let i = 0; i < 7; i += 1) {
    const { status, headers } = await call(
      'POST',
      `/sessions/${user}/files?name=a.txt`,
      undefined,
      'some text',
    )
    expect(status).toBe(200)
    expect(headers.get('x-ratelimit-disabled')).toBe('true')
    expect(headers.get('ratelimit')).toBeNull()
  }
  expect((await call('GET', '/health')).body).toMatchObject({ rate_limit: 'disabled' })
})

test('a page is read once for all spellings of its address', async () => {
  const site = await serveStandIn('stand-in site', () => ({
    headers: { 'Content-Type': 'text/html' },
    body: sample('tide-mills.html').toString(),
  }))
  onTestFinished(() => site.close())
  const { call } = await service({ pages: { allowPrivate: true } })
  const user = newUser()
  await call('POST', '/sessions', { user_id: user })
  const read = (url: string) => call('POST', `/sessions/${user}/pages`, { url })
  const one = await read(`${site.url}/mills?b=2&a=1#top`)
  expect(one).toMatchObject({
    status: 200,
    body: { learned: true, resource_id: `web:${site.url}/mills?a=1&b=2` },
  })
  expect((await read(`${site.url}/mills?a=1&utm_source=x&b=2`)).body).toEqual(one.body)
  expect(site.requests()).toBe(1)
  const { resource_list } = (await call('GET', `/sessions/${user}`)).body as Session
  expect(resource_list).toEqual([`web:${site.url}/mills?a=1&b=2`])
  site.fail({ fault: 'unavailable' })
  expect(await read(`${site.url}/other`)).toMatchObject({ status: 502 })
  expect(await read('ftp://example.com/')).toMatchObject({ status: 400 })
})

test('a page on a private address is refused', async () => {
  const { call } = await service()
  const user = newUser()
  await call('POST', '/sessions', { user_id: user })
  expect(await call('POST', `/sessions/${user}/pages`, { url: 'http://127.0.0.1:1/' })).toMatchObject({
    status: 403,
    body: { status: 403 },
  })
})

test('a transcript is learned from; a video without one is a 404', async () => {
  const { call } = await service()
  const user = newUser()
  await call('POST', '/sessions', { user_id: user })
  const path = `/sessions/${user}/videos`
  expect(await call('POST', path, { video: 'https://youtu.be/tidemill001' })).toMatchObject({
    status: 200,
    body: { resource_id: 'youtube:tidemill001', learned: true },
  })
  expect((await call('POST', path, { video: 'aaaaaaaaaaa' })).status).toBe(404)
  expect((await call('POST', path, { video: 'nothing' })).status).toBe(400)
})

test('no request ends it, and it is ready while Redis answers', async () => {
  const { url } = await service()
  expect(await survived(url)).toEqual([])
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
})

test('what is not as it should be is refused in words', async () => {
  const { call } = await service()
  expect(await call('POST', '/sessions', {})).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('user_id') },
  })
  expect(await call('POST', '/sessions', { user_id: 'a:b' })).toMatchObject({ status: 400 })
  expect(await call('GET', '/sessions/%E0%A4%A')).toMatchObject({ status: 400 })
  expect(await call('PUT', '/sessions')).toMatchObject({ status: 405 })
  expect(await call('GET', '/nothing')).toMatchObject({ status: 404 })
  const user = newUser()
  await call('POST', '/sessions', { user_id: user })
  expect(await call('POST', `/sessions/${user}/questions`, undefined, '{')).toMatchObject({ status: 415 })
  expect(await call('POST', `/sessions/${user}/questions`, { question: ' ' })).toMatchObject({ status: 400 })
  const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  expect(await call('POST', `/sessions/${user}/files?name=a.png`, undefined, png)).toMatchObject({
    status: 415,
  })
})

test('a model that fails is told as such, nothing of it is kept, and the next question is answered', async () => {
  const model = await startModelStandIn()
  onTestFinished(() => model.close())
  const env = {
    MODEL_BASE_URL: model.url,
    MODEL_NAME: 'stand-in',
    EMBEDDING_MODEL_NAME: 'stand-in-embedding',
  }
  const { call, opened } = await service({ env, patience: { attempts: 1, timeoutMs: 500 } })
  const user = newUser()
  await call('POST', '/sessions', { user_id: user, relatedness_threshold: 0 })
  await addFile(call, user, 'moss-clocks.txt')
  const question = { question: 'How does a moss clock tell the time?' }
  const ask = () => call('POST', `/sessions/${user}/questions`, question)
  for (const [fault, status] of [
    ['limited', 503],
    ['unavailable', 502],
    ['garbage', 502],
    ['silent', 504],
  ] as const) {
    model.fail({ fault, path: '/v1/embeddings', ...(fault === 'limited' && { retryAfterSeconds: 30 }) })
    const answer = await ask()
    expect([fault, answer.status]).toEqual([fault, status])
    expect(answer.body).toMatchObject({ status })
    if (fault === 'limited') expect(Number(answer.headers.get('retry-after'))).toBe(30)
  }
  expect((await call('GET', `/sessions/${user}`)).body).toMatchObject({ turn_count: 0, topic_anchor: null })
  expect(await ask()).toMatchObject({ status: 200, body: { turn_count: 1 } })
  const kept = async () => {
    let count = 0
    for await (const _ of opened.keys.llm.scan()) count += 1
    return count
  }
  const before = await kept()
  model.fail({ fault: 'unavailable', path: '/v1/chat' })
  const other = { question: 'Who made the first moss clock?' }
  expect(await call('POST', `/sessions/${user}/questions`, other)).toMatchObject({ status: 502 })
  expect(await kept()).toBe(before)
  expect(await call('POST', `/sessions/${user}/questions`, other)).toMatchObject({
    status: 200,
    body: { decision: 'related', model: 'stand-in', turn_count: 2 },
  })
})

test('without Redis at the start the service starts, refuses sessions, reads pages, and is well once Redis is there', async () => {
  const away = await startRedis()
  onTestFinished(() => away.stop())
  await away.kill()
  const { call } = await service({ settings: { redisUrl: away.url } })
  const refused = await call('POST', '/sessions', { user_id: 'u' })
  expect(refused).toMatchObject({ status: 503, body: { status: 503 } })
  expect(refused.headers.get('retry-after')).toBe('1')
  await away.restart()
  await eventually(async () => expect((await call('POST', '/sessions', { user_id: 'u' })).status).toBe(201), {
    within: '15s',
  })
})

test('while Redis is away, files are read within half of the limit and the session does not learn; then all is as before', async () => {
  const away = await startRedis()
  onTestFinished(() => away.stop())
  const { call, opened } = await service({ settings: { redisUrl: away.url } })
  await opened.connected
  await call('POST', '/sessions', { user_id: 'u' })
  await away.kill()
  const upload = (text: string) => call('POST', '/sessions/u/files?name=a.txt', undefined, text)
  const answers = [await upload('one'), await upload('two'), await upload('three')]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429])
  expect(answers[0]).toMatchObject({ body: { learned: false, content: { text: 'one' } } })
  expect((await call('POST', '/sessions/u/questions', { question: 'Why?' })).status).toBe(503)
  expect((await call('GET', '/health')).body).toMatchObject({ redis: { healthy: false } })
  await away.restart()
  await eventually(async () => expect((await call('POST', '/sessions', { user_id: 'u' })).status).toBe(201), {
    within: '15s',
  })
  // What was admitted meanwhile is counted, so that the limit holds over the outage.
  await eventually(async () => expect(await away.command('ZCARD', 'rate:u:file_upload')).toBe(2), {
    within: '15s',
  })
})

interface Given {
  readonly settings?: Partial<RedisSettings>
  readonly env?: Record<string, string>
  readonly patience?: Parameters<typeof openModel>[1]
  readonly pages?: { readonly allowPrivate: boolean }
}

interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}
type Call = (method: string, path: string, json?: object, raw?: string | Uint8Array) => Promise<Reply>

async function service(
  given: Given = {},
): Promise<{ readonly call: Call; readonly opened: Opened; readonly url: string }> {
  const { settings = {}, env = {}, patience = {}, pages } = given
  const opened = openTutor({ redisUrl: redis.url, ...settings }, { patienceMs: 1_000, log: () => {} })
  if (settings.redisUrl === undefined) await opened.connected
  const server = tutorServer({
    opened,
    model: openModel(env, patience),
    ocr: openOcr(env),
    reader,
    transcripts: openTranscripts(env),
    ...(pages && { pages }),
    log: () => {},
  })
  const { url, close } = await server.listen()
  onTestFinished(async () => {
    await close()
    opened.close()
  })
  const call: Call = async (method, path, json, raw) => {
    const body = json === undefined ? raw : JSON.stringify(json)
    const response = await fetch(url + path, {
      method,
      ...(body === undefined ? {} : { body: body as string }),
      ...(json === undefined ? {} : { headers: { 'Content-Type': 'application/json' } }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
  }
  return { call, opened, url }
}

async function addFile(
  call: Call,
  user: string,
  name: 'lantern-revolt.md' | 'moss-clocks.txt',
): Promise<void> {
  const path = `/sessions/${user}/files?name=${name}`
  expect(await call('POST', path, undefined, sample(name))).toMatchObject({
    status: 200,
    body: { learned: true },
  })
}
