import { validate } from 'keyspec'
import { matcher, usage } from '@keyspec/inspect'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Python, startPython } from '../../../test-support/python.ts'
import { type Opened, openDocuments } from './keyspace.ts'
import { newState } from './pipeline/document-state.ts'
import { documents, documentsSchema } from './schema.ts'

let redis: TemporaryRedis
let opened: Opened
let interpreter: Python

beforeAll(async () => {
  interpreter = startPython()
  redis = await startRedis()
  opened = await openDocuments(redis.url, { limit: 3 })
})

afterAll(async () => {
  interpreter.stop()
  opened.close()
  await redis.stop()
})

// The names are fixed, so every test begins with an empty server of its own.
beforeEach(() => redis.command('FLUSHALL'))

const id = '7f1c2a'
const hours = 3_600
const days = 24 * hours

const values = {
  state: newState({ document_uuid: id, name: 'a.pdf', batch_id: 'b1' }, new Date('2025-01-10T12:00:00Z')),
  ocrResult: {
    document_uuid: id,
    name: 'a.pdf',
    media_type: 'application/pdf',
    text: 'Señora Vega',
    pages: [{ page: 1, start: 0, end: 11, source: 'text' }],
    pages_needing_ocr: [],
  },
  chunks: { document_uuid: id, max_tokens: 200, overlap_tokens: 40, chunks: [] },
  allExtractedMentions: { document_uuid: id, mentions: [] },
  canonicalEntities: { document_uuid: id, entities: [] },
  resolvedMentions: { document_uuid: id, resolved: [], unresolved: ['m1'] },
} as const

const entries = [
  ['state', 'state', 7 * days],
  ['ocrResult', 'ocr_result', 7 * days],
  ['chunks', 'chunks', 2 * days],
  ['allExtractedMentions', 'all_extracted_mentions', 2 * days],
  ['canonicalEntities', 'canonical_entities', 3 * days],
  ['resolvedMentions', 'resolved_mentions', 3 * days],
] as const

test('the schema is the document’s table, with its types and lifetimes', () => {
  const table = Object.entries(documents).flatMap(([entry, kind]) =>
    kind.keys
      .filter(({ external, pattern }) => external === undefined && !pattern.text.startsWith('cache:lock:'))
      .map((spec) => [entry, spec.pattern.text.replace('*>', '>'), spec.type, spec.lifetime.ttlMs]),
  )
  const ms = (seconds: number) => seconds * 1000
  expect(table).toEqual([
    ...entries.map(([entry, name, ttl]) => [entry, `cache:doc:${name}:<documentUuid>`, 'string', ms(ttl)]),
    ['olderChunk', 'cache:chunk:<rest>', 'string', ms(2 * days)],
    ['olderEntity', 'cache:entity:<rest>', 'string', ms(3 * days)],
    ['olderOcr', 'cache:ocr:<rest>', 'string', ms(7 * days)],
    ['batchProgress', 'batch:progress:<batchId>', 'hash', ms(days)],
    ['batchManifest', 'batch:manifest:<batchId>', 'string', ms(days)],
    ['batchStats', 'batch:stats:<batchId>', 'hash', ms(days)],
    ['pipelineMetric', 'metrics:pipeline:<metricType>:<timestamp>', 'string', ms(7 * days)],
    ['performanceMetric', 'metrics:performance:<component>:<timestamp>', 'string', ms(7 * days)],
    ['rateLimit', 'rate:limit:<resource>:<identifier>', 'string', ms(60)],
    ['result', 'results:job:<queue>:<jobId>', 'string', ms(days)],
  ])
  expect(() => validate(documentsSchema())).not.toThrow()
})

describe.each(entries)('%s and a Python program', (entry, name, ttl) => {
  const key = `cache:doc:${name}:${id}`
  const handle = () =>
    opened.keys[entry]({ documentUuid: id }) as unknown as {
      get(): Promise<unknown>
      set(value: unknown): Promise<void>
    }

  test('read what the other writes', async () => {
    await handle().set(values[entry])
    expect(await python(`print(json.dumps([r.type(K), json.loads(r.get(K)), r.ttl(K)]))`, key)).toEqual([
      'string',
      values[entry],
      expect.toSatisfy((left: number) => left > ttl - 60 && left <= ttl),
    ])
    await python(`r.delete(K); r.setex(K, 60, json.dumps(V)); print('null')`, key, values[entry])
    expect(await handle().get()).toEqual(values[entry])
  })

  test('an old key without its prefix is read, and moved with the time it has left', async () => {
    await python(`r.setex(K, 600, json.dumps(V)); print('null')`, key.replace('cache:', ''), values[entry])
    expect(await handle().get()).toEqual(values[entry])
    expect(await redis.command('DBSIZE')).toBe(1)
    expect(await redis.command('EXISTS', key)).toBe(1)
    const left = (await redis.command('TTL', key)) as number
    expect(left > 0 && left <= 600).toBe(true)
  })
})

test('a batch’s progress and statistics are hashes of plain numbers, both ways', async () => {
  for (const [entry, name] of [
    ['batchProgress', 'progress'],
    ['batchStats', 'stats'],
  ] as const) {
    const key = `batch:${name}:b1`
    const field = entry === 'batchProgress' ? 'completed' : 'pages'
    const hash = opened.keys[entry]({ batchId: 'b1' })
    await hash.set({ [field]: 2 })
    expect(
      await python(
        `r.hincrby(K, F, 3); print(json.dumps([r.type(K), r.hgetall(K), r.ttl(K)]))`,
        key,
        null,
        field,
      ),
    ).toEqual([
      'hash',
      { [field]: '5' },
      expect.toSatisfy((left: number) => left > days - 60 && left <= days),
    ])
    expect((await hash.get())?.[field]).toBe(5)
  }
})

test('a manifest, metrics and results are JSON with their lifetimes, both ways', async () => {
  const { keys } = opened
  const timestamp = '2025-01-10T12:00:00.123Z'
  const manifest = { batch_id: 'b1', created_at: timestamp, documents: [] }
  const pipeline = {
    metric_type: 'ocr',
    timestamp,
    document_uuid: id,
    batch_id: 'b1',
    stage: 'ocr',
    duration_ms: 12.5,
    outcome: 'completed',
    produced: 2,
    error: null,
  } as const
  const performance = {
    component: 'worker-1',
    timestamp,
    window_ms: 5_000,
    operations: 4,
    failures: 1,
    mean_ms: 3,
    p50_ms: 2,
    p99_ms: 9,
    memory_bytes: 1_000,
  }
  const result = {
    status: 'completed',
    document_uuid: id,
    stage: 'ocr',
    key: 'k',
    hit: false,
    duration_ms: 1,
    error: null,
    date_done: timestamp,
  } as const
  const rows = [
    ['batch:manifest:b1', keys.batchManifest({ batchId: 'b1' }), manifest, days],
    [
      `metrics:pipeline:ocr:${timestamp}`,
      keys.pipelineMetric({ metricType: 'ocr', timestamp }),
      pipeline,
      7 * days,
    ],
    [
      `metrics:performance:worker-1:${timestamp}`,
      keys.performanceMetric({ component: 'worker-1', timestamp }),
      performance,
      7 * days,
    ],
    ['results:job:ocr:j1', keys.result({ queue: 'ocr', jobId: 'j1' }), result, days],
  ] as const
  for (const [name, key, value, ttl] of rows) {
    await (key as { set(value: unknown): Promise<void> }).set(value)
    expect(
      await python(
        `v = json.loads(r.get(K)); r.set(K, json.dumps(v), keepttl=True); print(json.dumps([r.type(K), v, r.ttl(K)]))`,
        name,
      ),
    ).toEqual(['string', value, expect.toSatisfy((left: number) => left > ttl - 60 && left <= ttl)])
    expect(await key.get()).toEqual(value)
  }
})

test('a limit is an INCR that expires, counted by both', async () => {
  const limiter = opened.keys.rateLimit({ resource: 'ocr', identifier: 'b1' })
  expect(await limiter.take()).toMatchObject({ allowed: true, remaining: 2 })
  const key = 'rate:limit:ocr:b1'
  expect(
    await python(`r.incr(K); print(json.dumps([r.type(K), r.get(K), 0 < r.ttl(K) <= 60]))`, key),
  ).toEqual(['string', '2', true])
  expect(await limiter.take()).toMatchObject({ allowed: true, remaining: 0 })
  expect(await limiter.take()).toMatchObject({ allowed: false })
})

test('keys of prefixes that begin alike are never taken for each other’s', async () => {
  const names = {
    'cache:doc:state:1': 'state',
    'doc:state:1': 'state',
    'cache:doc:state:1:2': undefined,
    'cache:doc:states:1': undefined,
    'cach:doc:state:1': undefined,
    'batch:progress:1': 'batchProgress',
    'batch:progress2:1': undefined,
    'broker:ocr:wait': 'broker',
    'broker:ocr': 'celeryBroker',
    unacked: 'celeryBrokerBefore',
    unacked_index: 'celeryBrokerBefore',
    '_kombu.binding.celeryev': 'celeryBrokerBefore',
    'ocr\u0006\u00163': 'celeryBrokerBefore',
    unacked_others: undefined,
    'broker:ocr2:wait': undefined,
    'brokers:ocr:wait': undefined,
    'results:celery-task-meta-1': 'celeryResults',
    'celery-task-meta-1': 'celeryResults',
    'rate:limit:ocr:1': 'rateLimit',
    'rate:limits:ocr:1': undefined,
  }
  const { match } = matcher(documents)
  for (const [name, entry] of Object.entries(names)) {
    expect([name, match(name)?.entry]).toEqual([name, entry])
    await redis.command('SET', name, 'x')
  }
  const counted: Record<string, number> = {}
  for (const { owned, keys } of await usage(documents, opened.connection)) {
    const name = owned?.entry ?? 'unknown'
    counted[name] = (counted[name] ?? 0) + keys
  }
  expect(counted).toMatchObject({
    state: 2,
    batchProgress: 1,
    broker: 1,
    celeryBroker: 1,
    celeryBrokerBefore: 4,
    celeryResults: 2,
    unknown: 8,
  })
  expect(await opened.keys.state({ documentUuid: '1' }).delete()).toBe(true)
  expect(await redis.command('EXISTS', 'cache:doc:states:1', 'cache:doc:state:1:2')).toBe(2)
})

/** What a Python program prints as JSON, given a key K, a value V and a field F. */
async function python(lines: string, key: string, value: unknown = null, field = ''): Promise<unknown> {
  const program = [
    'import json, sys, redis',
    'S, K, V, F = json.loads(sys.argv[1])',
    'r = redis.Redis(unix_socket_path=S, decode_responses=True)',
    lines,
  ].join('\n')
  const given = JSON.stringify([redis.socket, key, value, field])
  return JSON.parse(await interpreter.run(program, given))
}
