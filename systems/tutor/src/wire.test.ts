import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'

import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { open } from 'keyspec'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { openTutor, type Opened } from './keyspace.ts'

// What a Python program that follows the document writes is read here, and what is written here it reads.

let redis: TemporaryRedis
let opened: Opened
let interpreter: ReturnType<typeof startPython>
let answers: Interface

beforeAll(async () => {
  redis = await startRedis()
  interpreter = startPython(redis.socket)
  answers = createInterface(interpreter.stdout)
  opened = openTutor({ redisUrl: redis.url })
  await opened.connected
})

afterAll(async () => {
  interpreter.stdin.end()
  opened.close()
  await redis.stop()
})

// The names are fixed, so every test begins with an empty server of its own.
beforeEach(() => redis.command('FLUSHALL'))

const session = {
  session_id: '0b0e0c2e-9b0c-4f7e-8a43-2d8c2a3f7b11',
  user_id: '42',
  classroom_id: 'c-7',
  created_at: '2024-01-01T00:00:00Z',
  last_active_at: '2024-01-01T12:00:00Z',
  turn_count: 5,
  resource_list: ['res_1', 'res_2'],
  topic_anchor: {
    id: 'anchor_xxx',
    canonical_title: 'French Revolution',
    created_at: '2024-01-01T10:00:00Z',
  },
  config: { ttl_hours: 24, max_resources: 25, relatedness_threshold: 0.65 },
}
const decision = {
  decision: 'related',
  attention_score: 0.78,
  similarity_score: 0.65,
  combined_score: 0.72,
  computed_at: '2024-01-01T12:00:00Z',
} as const
const anchor = {
  id: 'anchor_abc123',
  canonical_title: 'Révolution française',
  canonical_seed: 'French Revolution',
  topic_embedding: [0.1, 0.2, -0.5],
  subject_scope: ['causes', 'events', 'consequences'],
  locked_entities: ['1789', 'Louis XVI', 'Bastille'],
  source: 'user_query',
  created_at: '2024-01-01T10:00:00Z',
}
const page = {
  url: 'https://example.com/article',
  title: 'Article Title',
  content: 'Article content…',
  crawled_at: '2024-01-01T12:00:00Z',
}
const video = {
  video_id: 'dQw4w9WgXcQ',
  title: 'Video Title',
  channel: 'Channel Name',
  duration: 212,
  transcript: ['one', 'two'],
  fetched_at: '2024-01-01T00:00:00Z',
}

test('the schema owns the nine patterns of the document, and the locks of its caches', () => {
  const keys = Object.values(opened.schema).flatMap((kind) => kind.keys)
  const declared = keys.map(({ pattern, type, lifetime }) => [
    pattern.text,
    type,
    lifetime.ttlMs === 'forever' ? lifetime.ttlMs : lifetime.ttlMs / 1000,
  ])
  const caches: [string, number][] = [
    ['cache:ocr:<contentHash>', 604_800],
    ['cache:embedding:<contentHash>', 86_400],
    ['cache:llm:<contentHash>', 3_600],
    ['abcr:<sessionId>:<questionHash>', 3_600],
    ['web:<urlHash>', 604_800],
    ['youtube:<videoId>', 2_592_000],
  ]
  expect(new Set(declared.map(String))).toEqual(
    new Set(
      [
        ['session:<userId>', 'string', 86_400],
        ['rate:<userId>:<endpoint>', 'zset', 60],
        ['anchor:<sessionId>', 'string', 86_400],
        ['topic_history:<sessionId>', 'list', 86_400],
        ['suggestions:<sessionId>', 'set', 86_400],
        ...caches.flatMap(([pattern, ttl]) => [
          [pattern, 'string', ttl],
          [`lock:${pattern}`, 'string', 10],
        ]),
      ].map(String),
    ),
  )
})

test('session: a string of JSON for 24 hours', async () => {
  const { keys } = opened
  await python(`r.setex('session:42', 86400, json.dumps(given))`, session)
  expect(await keys.session({ userId: 42 }).get()).toEqual(session)
  await keys.session({ userId: 43 }).set({ ...session, user_id: '43', topic_anchor: null })
  expect(await python(`json.loads(r.get('session:43'))`)).toEqual({
    ...session,
    user_id: '43',
    topic_anchor: null,
  })
  await isA('session:43', 'string', 86_400)
  await redis.command('SET', 'session:44', JSON.stringify({ ...session, turn_count: -1 }))
  await expect(keys.session({ userId: 44 }).get()).rejects.toMatchObject({ code: 'E_DECODE' })
  await expect(keys.session({ userId: 45 }).set({ ...session, turn_count: 1.5 })).rejects.toMatchObject({
    code: 'E_ENCODE',
  })
  expect(await redis.command('EXISTS', 'session:45')).toBe(0)
})

test('rate: a sorted set of timestamps for a minute, counted together', async () => {
  const { keys } = opened
  // The document's way, on the same clock: the timestamp is score and member.
  await python(`
now = time.time()
for i in range(4):
    r.zadd('rate:42:file_upload', {str(now - i): now - i})
r.zadd('rate:42:file_upload', {str(now - 61): now - 61})
r.expire('rate:42:file_upload', 60)`)
  const limiter = keys.rate({ userId: 42, endpoint: 'file_upload' })
  expect(await limiter.take()).toMatchObject({ allowed: true, limit: 5, remaining: 0 })
  expect(await limiter.take()).toMatchObject({ allowed: false, from: 'redis' })
  await isA('rate:42:file_upload', 'zset', 60)
  const counted = await python(`
now = time.time()
r.zremrangebyscore('rate:42:file_upload', 0, now - 60)
result = [r.zcard('rate:42:file_upload'), now - r.zrange('rate:42:file_upload', -1, -1, withscores=True)[0][1]]`)
  const [count, age] = counted as [number, number]
  expect(count).toBe(5)
  expect(Math.abs(age)).toBeLessThan(60)
})

test.each([
  ['ocr', 604_800, { text: 'Œuvre', confidence: 0.95 }, { text: 'x', confidence: 1.5 }],
  ['embedding', 86_400, [0.1, 0.2, -0.3], ['0.1']],
  ['llm', 3_600, { answer: 'Bread.', confidence: 0.9 }, { answer: 'Bread.' }],
] as const)(
  'cache:%s: a string of JSON for %i s, by the SHA-256 of the content',
  async (name, ttl, value, wrong) => {
    const entry = opened.keys[name] as typeof opened.keys.llm
    const by = (content: string) => `cache:${name}:${sha256(content)}`
    await python(
      `r.setex('cache:${name}:' + hashlib.sha256(b'one').hexdigest(), ${ttl}, json.dumps(given))`,
      value,
    )
    expect(await entry({ contentHash: 'one' }).get()).toEqual(value)
    await entry({ contentHash: 'two' }).getOrLoad(() => value as never)
    expect(await python(`json.loads(r.get('${by('two')}'))`)).toEqual(value)
    await isA(by('two'), 'string', ttl)
    // What cannot be read counts as missing, and is replaced by what is loaded.
    await redis.command('SET', by('three'), JSON.stringify(wrong))
    expect(await entry({ contentHash: 'three' }).get()).toBeUndefined()
    expect(await entry({ contentHash: 'three' }).getOrLoad(() => value as never)).toEqual(value)
    await isA(by('three'), 'string', ttl)
    await expect(entry({ contentHash: 'four' }).set(wrong as never)).rejects.toMatchObject({
      code: 'E_ENCODE',
    })
    expect(await redis.command('EXISTS', by('four'))).toBe(0)
  },
)

test('abcr: a string of JSON for an hour', async () => {
  const { keys } = opened
  await python(`r.setex('abcr:s1:' + hashlib.sha256(b'Why?').hexdigest(), 3600, json.dumps(given))`, decision)
  expect(await keys.abcr({ sessionId: 's1', questionHash: 'Why?' }).get()).toEqual(decision)
  await keys.abcr({ sessionId: 's2', questionHash: 'Why?' }).set({ ...decision, decision: 'unrelated' })
  const name = `abcr:s2:${sha256('Why?')}`
  expect(await python(`json.loads(r.get('${name}'))`)).toEqual({ ...decision, decision: 'unrelated' })
  await isA(name, 'string', 3_600)
})

test('anchor: a string of JSON for 24 hours from its last use', async () => {
  const { keys } = opened
  await python(`r.setex('anchor:s1', 100, json.dumps(given))`, anchor)
  expect(await keys.anchor({ sessionId: 's1' }).get()).toEqual(anchor)
  await isA('anchor:s1', 'string', 86_400)
  await keys.anchor({ sessionId: 's2' }).set(anchor)
  expect(await python(`json.loads(r.get('anchor:s2'))`)).toEqual(anchor)
  await isA('anchor:s2', 'string', 86_400)
})

test('topic_history: a list of JSON, the newest first, for 24 hours', async () => {
  const { keys } = opened
  await python(
    `
for title in ['First', 'Second']:
    r.lpush('topic_history:s1', json.dumps({'canonical_title': title, 'extra': 1}))
r.expire('topic_history:s1', 86400)`,
  )
  const history = keys.topicHistory({ sessionId: 's1' })
  expect(await history.list()).toEqual([
    { canonical_title: 'Second', extra: 1 },
    { canonical_title: 'First', extra: 1 },
  ])
  await history.add({ canonical_title: 'Third' })
  expect(
    await python(`[json.loads(each)['canonical_title'] for each in r.lrange('topic_history:s1', 0, -1)]`),
  ).toEqual(['Third', 'Second', 'First'])
  await isA('topic_history:s1', 'list', 86_400)
  await python(`
for i in range(80):
    r.lpush('topic_history:s1', json.dumps({'canonical_title': str(i)}))`)
  expect(await history.list()).toHaveLength(50)
  await history.add({ canonical_title: 'Last' })
  expect(await redis.command('LLEN', 'topic_history:s1')).toBe(50)
})

test('suggestions: a set of hashes for 24 hours', async () => {
  const { keys } = opened
  await python(`
r.sadd('suggestions:s1', 'sha256hash1', 'sha256hash2')
r.expire('suggestions:s1', 86400)`)
  const shown = keys.suggestions({ sessionId: 's1' })
  expect(await shown.claim(['sha256hash1', 'sha256hash3'])).toEqual(['sha256hash3'])
  expect(
    await python(`[bool(r.sismember('suggestions:s1', each)) for each in ['sha256hash3', 'sha256hash4']]`),
  ).toEqual([true, false])
  await isA('suggestions:s1', 'set', 86_400)
})

test('suggestions: of callers at once, in several clients, each candidate goes to one', async () => {
  const candidates = Array.from({ length: 30 }, (_, at) => sha256(String(at)))
  const clients = await several(3)
  const claimed = await Promise.all(
    Array.from({ length: 24 }, (_, at) =>
      clients[at % 3]!.keys.suggestions({ sessionId: 's1' }).claim(candidates, { most: 2 }),
    ),
  )
  expect(claimed.flat().toSorted()).toEqual(candidates.toSorted())
})

test('web: a string of JSON for 7 days, by the SHA-256 of the normalised address', async () => {
  const { keys } = opened
  await python(
    `r.setex('web:' + hashlib.sha256(given['url'].encode()).hexdigest(), 604800, json.dumps(given))`,
    page,
  )
  const spelled = 'HTTPS://Example.com:443/article?utm_source=mail#top'
  expect(await keys.web({ urlHash: spelled }).get()).toEqual(page)
  const other = { ...page, url: 'https://example.com/other?a=1&b=2' }
  await keys.web({ urlHash: 'https://example.com/other?b=2&a=1' }).set(other)
  const name = `web:${sha256(other.url)}`
  expect(await python(`json.loads(r.get('${name}'))`)).toEqual(other)
  await isA(name, 'string', 604_800)
})

test('youtube: a string of JSON for 30 days', async () => {
  const { keys } = opened
  await python(`r.setex('youtube:dQw4w9WgXcQ', 2592000, json.dumps(given))`, video)
  expect(await keys.youtube({ videoId: 'dQw4w9WgXcQ' }).get()).toEqual(video)
  await keys.youtube({ videoId: 'abcdefghijk' }).set({ ...video, video_id: 'abcdefghijk' })
  expect(await python(`json.loads(r.get('youtube:abcdefghijk'))['transcript']`)).toEqual(['one', 'two'])
  await isA('youtube:abcdefghijk', 'string', 2_592_000)
})

test('rate: of callers at once, in several clients, exactly the limit is admitted, and refusals take no room', async () => {
  const clients = await several(3)
  for (const [endpoint, limit] of [
    ['tutor_query', 20],
    ['web_search', 10],
    ['file_upload', 5],
  ] as const) {
    const taken = await Promise.all(
      Array.from({ length: 60 }, (_, at) => clients[at % 3]!.keys.rate({ userId: 1, endpoint }).take()),
    )
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(limit)
    expect(await redis.command('ZCARD', `rate:1:${endpoint}`)).toBe(limit)
  }
  const unlimited = opened.keys.rate({ userId: 1, endpoint: 'other' as never })
  await expect(unlimited.take()).rejects.toThrow('no limit is declared')
})

test('rate: two hits in one instant count as two', async () => {
  const noon = Date.UTC(2026, 0, 1, 12)
  const keys = open(opened.schema, opened.connection, { now: () => noon })
  const limiter = keys.rate({ userId: 1, endpoint: 'file_upload' })
  await limiter.take()
  await limiter.take()
  expect((await limiter.peek()).remaining).toBe(3)
  expect(await redis.command('ZCOUNT', 'rate:1:file_upload', noon / 1000, noon / 1000)).toBe(2)
})

test('rate: switched off, it admits everything, counts nothing and says so', async () => {
  const off = openTutor({ redisUrl: redis.url, rateLimitEnabled: false })
  await off.connected
  try {
    const limiter = off.keys.rate({ userId: 1, endpoint: 'file_upload' })
    for (let i = 0; i < 7; i += 1) {
      expect(await limiter.take()).toMatchObject({ allowed: true, from: 'disabled' })
    }
    expect(await redis.command('EXISTS', 'rate:1:file_upload')).toBe(0)
  } finally {
    off.close()
  }
})

test('session: of increments at once, in several clients and in Python, none is lost', async () => {
  const clients = await several(3)
  await opened.keys.session({ userId: 42 }).set({ ...session, turn_count: 0 })
  const byPython = python(`
for i in range(10):
    with r.pipeline() as pipe:
        while True:
            try:
                pipe.watch('session:42')
                value = json.loads(pipe.get('session:42'))
                value['turn_count'] += 1
                pipe.multi()
                pipe.setex('session:42', 86400, json.dumps(value))
                pipe.execute()
                break
            except redis.WatchError:
                continue`)
  const byUs = Array.from({ length: 45 }, (_, at) =>
    clients[at % 3]!.keys.session({ userId: 42 }).update(
      (before) => before && { ...before, turn_count: before.turn_count + 1 },
    ),
  )
  await Promise.all([byPython, ...byUs])
  expect((await opened.keys.session({ userId: 42 }).get())?.turn_count).toBe(55)
  await isA('session:42', 'string', 86_400)
})

test('settings decide how long embeddings are kept, and nothing else', async () => {
  const other = openTutor({ redisUrl: redis.url, cacheTtlSeconds: 120 })
  await other.connected
  try {
    await other.keys.embedding({ contentHash: 'a' }).set([1])
    await other.keys.llm({ contentHash: 'a' }).set({ answer: 'a', confidence: 1 })
    expect(await redis.command('TTL', `cache:embedding:${sha256('a')}`)).toBeLessThanOrEqual(120)
    expect(await redis.command('TTL', `cache:llm:${sha256('a')}`)).toBeGreaterThan(3_500)
  } finally {
    other.close()
  }
})

test('a password is used where Redis wants one', async () => {
  const locked = await startRedis({ config: { requirepass: 'open-sesame' } })
  const told = openTutor({ redisUrl: locked.url, redisPassword: 'open-sesame' })
  try {
    await told.connected
    await told.keys.llm({ contentHash: 'a' }).set({ answer: 'a', confidence: 1 })
    expect(await locked.command('DBSIZE')).toBe(1)
  } finally {
    told.close()
    await locked.stop()
  }
})

/** Runs Python that follows the document, with `given`; answers what its only expression or `result` is. */
async function python(program: string, given?: unknown): Promise<unknown> {
  const answer = once(answers, 'line')
  const isStatement = /^\n|^r\.\w+\('/.test(program)
  const source = isStatement ? program : `result = ${program}`
  interpreter.stdin.write(`${JSON.stringify({ source, given: given ?? null })}\n`)
  const [line] = (await answer) as [string]
  const { result, error } = JSON.parse(line) as { result?: unknown; error?: string }
  if (error !== undefined) throw new Error(error)
  return result
}

/** One Python for all tests, since it takes long to start; it ends with its standard input. */
function startPython(socket: string) {
  const loop = `
import hashlib, json, sys, time, traceback, redis
r = redis.Redis(unix_socket_path=sys.argv[1], decode_responses=True)
for line in sys.stdin:
    asked = json.loads(line)
    names = {'hashlib': hashlib, 'json': json, 'time': time, 'redis': redis, 'r': r, 'given': asked['given'], 'result': None}
    try:
        exec(asked['source'], names)
        print(json.dumps({'result': names['result']}), flush=True)
    except Exception:
        print(json.dumps({'error': traceback.format_exc()}), flush=True)`
  return spawn('/usr/bin/python3', ['-c', loop, socket], { stdio: ['pipe', 'pipe', 'inherit'] })
}

async function isA(key: string, type: string, ttlSeconds: number): Promise<void> {
  expect(await redis.command('TYPE', key)).toBe(type)
  const left = (await redis.command('TTL', key)) as number
  expect(left).toBeLessThanOrEqual(ttlSeconds)
  expect(left).toBeGreaterThan(ttlSeconds - 30)
}

async function several(count: number): Promise<Opened[]> {
  const clients = Array.from({ length: count }, () => openTutor({ redisUrl: redis.url }))
  await Promise.all(clients.map(({ connected }) => connected))
  closing.push(...clients)
  return clients
}

const closing: Opened[] = []
afterAll(() => {
  for (const each of closing) each.close()
})

function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex')
}
