import { createHash } from 'node:crypto'

import { open } from 'keyspec'
import { eventually, startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { type Python, startPython } from '../../../test-support/python.ts'
import { catalogueOf, loadCatalogue } from './catalogue/catalogue.ts'
import { embeddedDetails } from './detail/embedded.ts'
import { openMovies, type Opened } from './keyspace.ts'
import { moviesSchema, scoredTrending } from './schema.ts'
import { embeddedUnderstander } from './understanding/embedded.ts'

// What the document's Python programs do, word for word, over the client that they use.
const prelude = `
import hashlib, json, os, re, struct, sys
import redis
r = redis.Redis(unix_socket_path=sys.argv[1])
given = json.loads(sys.argv[2])
def hashed(text):
    return hashlib.sha256(re.sub(r'\\s+', ' ', text.strip()).encode()).hexdigest()[:16]
`

let redis: TemporaryRedis
let opened: Opened
let interpreter: Python
const warnings: string[] = []

beforeAll(async () => {
  interpreter = startPython()
  redis = await startRedis()
  opened = openMovies({
    url: redis.url,
    environment: 'staging',
    log: { info() {}, warn: (event) => void warnings.push(event) },
    patienceMs: 5_000,
  })
  await opened.ready()
})

afterAll(async () => {
  interpreter.stop()
  opened.close()
  await redis.stop()
})

// The names are fixed, so every test begins with an empty server of its own.
beforeEach(async () => {
  warnings.length = 0
  await redis.command('FLUSHALL')
})

/** Runs the lines in Python, with `r` the client and `given` the values; answers what they leave in `told`. */
async function python(lines: string, given: unknown = null): Promise<unknown> {
  const script = `${prelude}\n${lines}\nprint(json.dumps(told))`
  return JSON.parse(await interpreter.run(script, redis.socket, JSON.stringify(given)))
}

const never = () => Promise.reject(new Error('there was nothing to load'))
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
const model = 'text-embedding-3-small'
const film = loadCatalogue().films[100]!
const small = catalogueOf([film])

test('the schema owns the rows of the document, their staging key and their locks, and nothing else', () => {
  const rows = Object.values(moviesSchema()).flatMap(({ keys }) =>
    keys.map(({ pattern, type, lifetime }) => [pattern.text.replace('*', ''), type, lifetime.ttlMs]),
  )
  const day = 86_400_000
  expect(rows).toEqual([
    ['emb:<model>:<textHash>', 'string', 7 * day],
    ['lock:emb:<model>:<textHash>', 'string', 10_000],
    ['qu:v<version>:<queryHash>', 'string', day],
    ['lock:qu:v<version>:<queryHash>', 'string', 10_000],
    ['trending:current', 'set', 'forever'],
    ['trending:next', 'set', 'forever'],
    ['tmdb:movie:<id>', 'string', day],
    ['lock:tmdb:movie:<id>', 'string', 10_000],
  ])
  for (const kind of Object.values(moviesSchema()))
    for (const { lifetime } of kind.keys)
      if (lifetime.ttlMs === 'forever') expect(lifetime).toMatchObject({ reason: /\w/ })
})

test('white space does not matter in a hash, and case does', async () => {
  const { keys } = opened
  await keys.embedding({ model, textHash: '  It \t was\n\nhere ' }).set(new Float32Array(1536))
  expect(await redis.command('EXISTS', `staging:emb:${model}:${hashOf('It was here')}`)).toBe(1)
  expect(await keys.embedding({ model, textHash: 'It was here' }).exists()).toBe(true)
  expect(await keys.embedding({ model, textHash: 'it was here' }).exists()).toBe(false)
})

test('the name of an embedded model has a colon, and its keys read back', async () => {
  const { keys } = opened
  const { name } = keys.embedding({ model: 'embedded:hashed-ngrams-1536', textHash: 'a' })
  expect(name).toBe(`staging:emb:embedded:hashed-ngrams-1536:${hashOf('a')}`)
  expect(keys.embedding.parse(name)).toEqual({
    model: 'embedded:hashed-ngrams-1536',
    textHash: { digest: hashOf('a') },
  })
})

test('while an entry is loaded its lock stands under lock: and its key, for 10 s, and then goes', async () => {
  const { keys } = opened
  const locks: Record<string, unknown> = {}
  const look = async (name: string) => {
    locks[name] = [
      await redis.command('TYPE', `staging:lock:${name}`),
      await redis.command('TTL', `staging:lock:${name}`),
    ]
  }
  const [emb, qu] = [`emb:${model}:${hashOf('a')}`, `qu:v1:${hashOf('q')}`]
  await keys.embedding({ model, textHash: 'a' }).getOrLoad(async () => {
    await look(emb)
    return new Float32Array(1536)
  })
  await keys.queryUnderstanding({ version: 1, queryHash: 'q' }).getOrLoad(async () => {
    await look(qu)
    return embeddedUnderstander(small).understand('q')
  })
  await keys.movie({ id: film.id }).getOrLoad(async () => {
    await look(`tmdb:movie:${film.id}`)
    return (await embeddedDetails(small).detail(film.id))!
  })
  const held = ['string', expect.toSatisfy((seconds: number) => seconds >= 8 && seconds <= 10)]
  expect(locks).toEqual({ [emb]: held, [qu]: held, [`tmdb:movie:${film.id}`]: held })
  expect(await redis.command('SCAN', 0, 'MATCH', '*lock:*', 'COUNT', 1000)).toEqual(['0', []])
})

describe('a Python program that follows the document', () => {
  test('reads the embeddings that we write, and writes those that we read', async () => {
    const { keys } = opened
    const vector = Float32Array.from({ length: 1536 }, (_, at) => Math.fround(Math.sin(at)))
    await keys.embedding({ model, textHash: ' a  quiet Film' }).set(vector)
    const key = `staging:emb:${model}:${hashOf('a quiet Film')}`
    expect(await redis.command('TYPE', key)).toBe('string')
    expect(await redis.command('STRLEN', key)).toBe(6144)
    expect(await redis.command('TTL', key)).toBeGreaterThan(7 * 86_400 - 60)
    expect(await redis.command('TTL', key)).toBeLessThanOrEqual(7 * 86_400)

    const told = await python(
      `
raw = r.get(f"staging:emb:${model}:{hashed('a quiet  Film ')}")
vector = list(struct.unpack(f'{len(raw)//4}f', raw))
packed = struct.pack(f'{len(given)}f', *given)
r.set(f"staging:emb:${model}:{hashed('another  text')}", packed, ex=604800)
told = vector
`,
      [...vector].toReversed(),
    )
    expect(told).toEqual([...vector])
    expect(await keys.embedding({ model, textHash: 'another text' }).getOrLoad(never)).toEqual(
      vector.toReversed(),
    )
  })

  test('reads the understanding that we write, and writes the one that we read', async () => {
    const { keys } = opened
    const understanding = await embeddedUnderstander(small).understand('trending comedies — für Élise')
    await keys.queryUnderstanding({ version: 1, queryHash: 'Us' }).set(understanding)
    const key = `staging:qu:v1:${hashOf('Us')}`
    expect(await redis.command('TYPE', key)).toBe('string')
    expect(await redis.command('TTL', key)).toBeGreaterThan(86_400 - 60)
    expect(await redis.command('TTL', key)).toBeLessThanOrEqual(86_400)

    const told = await python(
      `
told = json.loads(r.get("staging:qu:v1:" + hashed(' Us ')))
r.set("staging:qu:v1:" + hashed('us'), json.dumps(given), ex=86400)
`,
      understanding,
    )
    expect(told).toEqual(understanding)
    expect(await keys.queryUnderstanding({ version: 1, queryHash: 'us' }).getOrLoad(() => never())).toEqual(
      understanding,
    )
    expect(await redis.command('GET', `staging:qu:v1:${hashOf('us')}`)).toContain('": ')
  })

  test('reads the trending films that we write, and stages and renames those that we read', async () => {
    const { keys } = opened
    expect(await keys.trending().replace([603, 11, 603])).toEqual({ replaced: true, size: 2 })
    expect(await redis.command('TYPE', 'staging:trending:current')).toBe('set')
    expect(await redis.command('TTL', 'staging:trending:current')).toBe(-1)
    expect(await redis.command('EXISTS', 'staging:trending:next')).toBe(0)

    const told = await python(`
told = sorted(int(id) for id in r.smembers("staging:trending:current"))
r.delete("staging:trending:next")
r.sadd("staging:trending:next", 7, 8, 9)
r.rename("staging:trending:next", "staging:trending:current")
`)
    expect(told).toEqual([11, 603])
    expect(await keys.trending().members()).toEqual(new Set([7, 8, 9]))
  })

  test('reads the details that we write, and writes those that we read', async () => {
    const { keys } = opened
    const detail = (await embeddedDetails(small).detail(film.id))!
    await keys.movie({ id: film.id }).set(detail)
    const key = `staging:tmdb:movie:${film.id}`
    expect(await redis.command('TYPE', key)).toBe('string')
    expect(await redis.command('GET', key)).toBe(JSON.stringify(detail))
    expect(await redis.command('TTL', key)).toBeGreaterThan(86_400 - 60)
    expect(await redis.command('TTL', key)).toBeLessThanOrEqual(86_400)

    const told = await python(
      `
told = json.loads(r.get(f"staging:tmdb:movie:{given['id']}"))
r.set("staging:tmdb:movie:7", json.dumps({**given, "id": 7}), ex=86400)
`,
      detail,
    )
    expect(told).toEqual(detail)
    expect(await keys.movie({ id: 7 }).getOrLoad(() => never())).toEqual({ ...detail, id: 7 })
  })

  test('holds a lock that we respect: what it loads is waited for, not loaded again', async () => {
    const { keys } = opened
    const key = `emb:${model}:${hashOf('slow')}`
    const told = await python(`told = r.set("staging:lock:${key}", 1, nx=True, ex=10)`)
    expect(told).toBe(true)
    const asked = keys.embedding({ model, textHash: 'slow' }).getOrLoad(never)
    await python(
      `
told = r.set("staging:${key}", struct.pack('1536f', *given), ex=604800)
r.delete("staging:lock:${key}")
`,
      Array.from({ length: 1536 }, () => 0.5),
    )
    expect(await asked).toEqual(new Float32Array(1536).fill(0.5))
    // Whoever waited may have won the lock before it looked again; it lets go of it behind its answer.
    await eventually(async () => expect(await redis.command('EXISTS', `staging:lock:${key}`)).toBe(0))
  })

  test('reads and writes the other form of the trending films, a hash of id to score', async () => {
    const keys = open({ trending: scoredTrending() }, opened.connection, { prefix: 'staging:' })
    await keys.trending().replace([
      [603, 0.97],
      [604, 31],
    ])
    expect(await redis.command('TYPE', 'staging:trending:current')).toBe('hash')
    const told = await python(`
told = {int(k): float(v) for k, v in r.hgetall("staging:trending:current").items()}
r.hset("staging:trending:next", mapping={7: 0.5, 8: 1.25})
r.rename("staging:trending:next", "staging:trending:current")
`)
    expect(told).toEqual({ 603: 0.97, 604: 31 })
    expect(await keys.trending().scores()).toEqual(
      new Map([
        [7, 0.5],
        [8, 1.25],
      ]),
    )
  })
})

test('a vector of another length or an understanding with a field too many counts as missing', async () => {
  const { keys } = opened
  await redis.command('SET', `staging:emb:${model}:${hashOf('a')}`, 'x'.repeat(6143))
  await redis.command('SET', `staging:qu:v1:${hashOf('a')}`, '{"channel_weights":{}}')
  expect(await keys.embedding({ model, textHash: 'a' }).get()).toBeUndefined()
  expect(await keys.queryUnderstanding({ version: 1, queryHash: 'a' }).get()).toBeUndefined()
  const vector = new Float32Array(1536).fill(1)
  expect(await keys.embedding({ model, textHash: 'a' }).getOrLoad(() => vector)).toEqual(vector)
  expect(await redis.command('STRLEN', `staging:emb:${model}:${hashOf('a')}`)).toBe(6144)
})

test('trending films that are missing are none, with one warning, and nothing new does not displace them', async () => {
  const { keys } = opened
  expect(await keys.trending().members()).toEqual(new Set())
  expect(warnings).toEqual(['trending'])
  await keys.trending().replace([1])
  expect(await keys.trending().replace([])).toEqual({ replaced: false, reason: 'empty' })
  expect(await redis.command('SMEMBERS', 'staging:trending:current')).toEqual(['1'])
})

test('while they are replaced over and over, readers never find the trending films missing or mixed', async () => {
  const { keys } = opened
  const lists = [
    Array.from({ length: 300 }, (_, id) => id),
    Array.from({ length: 200 }, (_, id) => 1000 + id),
  ]
  await keys.trending().replace(lists[0]!)
  let isOver = false
  const writing = (async () => {
    for (let turn = 1; turn <= 100; turn += 1) await keys.trending().replace(lists[turn % 2]!)
    isOver = true
  })()
  const sizes = new Set<unknown>()
  while (!isOver)
    sizes.add(((await redis.command('SMEMBERS', 'staging:trending:current')) as unknown[]).length)
  await writing
  expect([...sizes].filter((size) => size !== 300 && size !== 200)).toEqual([])
  expect(sizes.size).toBe(2)
})
