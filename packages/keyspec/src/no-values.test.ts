import { inspect } from 'node:util'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { all, connected } from '../../../test-support/connected.ts'
import { boolean } from './codec/boolean.ts'
import { type Codec, textCodec } from './codec/codec.ts'
import { number } from './codec/number.ts'
import { float32 } from './codec/float32.ts'
import { isoDate } from './codec/iso-date.ts'
import { integer } from './codec/integer.ts'
import { json } from './codec/json.ts'
import { text } from './codec/text.ts'
import { sqlDate } from './codec/sql-date.ts'
import { ServerError } from './connection/server-error.ts'
import { open } from './keyspace.ts'
import { counter } from './kind/counter.ts'
import { hash } from './kind/hash.ts'
import { list } from './kind/list.ts'
import { set } from './kind/set.ts'
import { sortedSet } from './kind/sorted-set.ts'
import { stream } from './kind/stream.ts'
import { string } from './kind/string.ts'
import { param } from './param.ts'
import {
  cache,
  cappedList,
  dedupe,
  lock,
  quota,
  sequence,
  slidingWindow,
  swapHash,
  swapSet,
  watermark,
  workQueue,
} from './recipe/index.ts'
import { unique } from './testing/index.ts'

const { redis, connection } = await connected()
const SECRET = 'hunter2-of-ada'

// Whatever of a value a codec of a user's puts into its error, it goes no further.
class TellTale extends Error {
  readonly input: unknown
  constructor(value: unknown) {
    super(`cannot take ${String(value)}`, { cause: { value } })
    this.input = value
  }
}
const tellTale = textCodec<string>({
  name: 'tell-tale',
  encode(value) {
    throw new TellTale(value)
  },
  decode(stored) {
    throw new TellTale(stored)
  },
})
const byValibot = v.object({ email: v.pipe(v.string(), v.email()), age: v.number() })
const byZod = z.strictObject({ email: z.email(), age: z.literal(7), kind: z.enum(['one', 'two']) })
const quoting = v.pipe(
  v.string(),
  v.check(
    () => false,
    ({ input }) => `bad: ${input.slice(3)}`,
  ),
)
const broken = JSON.stringify({ email: SECRET, age: SECRET, kind: SECRET })
const CODECS: [string, Codec<any, any>, stored: string, given: unknown][] = [
  ['json of valibot', json(byValibot), broken, JSON.parse(broken)],
  ['json of zod', json(byZod), broken, JSON.parse(broken)],
  ['json whose schema quotes', json(quoting), JSON.stringify(SECRET), SECRET],
  ['json that is none', json(byValibot), `${SECRET}}`, { [SECRET.slice(0, 0)]: 1n, email: SECRET }],
  ['json cut short', json(byValibot), `{"email":"${SECRET}`, [SECRET]],
  ['integer', integer, SECRET, SECRET],
  ['number', number, SECRET, SECRET],
  ['boolean', boolean, SECRET, SECRET],
  ['isoDate', isoDate, SECRET, SECRET],
  ['sqlDate', sqlDate, SECRET, SECRET],
  ['float32', float32(2), SECRET, [SECRET, SECRET]],
  ['a codec of the user’s', tellTale, SECRET, SECRET],
  ['text', text, SECRET, `${SECRET}\ud800`],
]

/** All that an error tells: its words, its stack, its cause, whatever it carries. */
function told(error: unknown): string {
  expect(error).toBeInstanceOf(Error)
  const { message, stack, cause } = error as Error
  return [
    message,
    stack,
    inspect(error, { depth: 20, showHidden: true }),
    inspect(cause, { depth: 20 }),
    JSON.stringify(error),
  ].join('\n')
}

async function expectSecretKept(run: () => unknown): Promise<void> {
  let failed: unknown
  try {
    await run()
  } catch (error) {
    failed = error
  }
  if (failed === undefined) return
  const words = told(failed)
  for (let at = 0; at + 7 <= SECRET.length; at += 1) expect(words).not.toContain(SECRET.slice(at, at + 7))
}

const forever = { ttl: 'forever', reason: 'a test' } as const
const ttl = { ttl: '1h' } as const

test.each(CODECS)(
  'no error of a %s tells the value, in any kind or recipe',
  async (_name, codec, stored, given) => {
    const prefix = `${unique()}:`
    const asText: Codec<any, any> = codec.bytes ? text : codec
    const schema = {
      string: string('string', codec, ttl),
      hash: hash('hash', { field: codec }, ttl),
      list: list('list', codec, ttl),
      set: set('set', codec, ttl),
      sorted: sortedSet('sorted', codec, ttl),
      stream: stream('stream', { field: codec }, ttl),
      cache: cache('cache', codec, ttl),
      recent: cappedList('recent', codec, { most: 2, ...ttl }),
      seen: dedupe('seen', codec, ttl),
      scored: swapHash('scored', codec, codec, { staging: 'scored_next', ...forever }),
      snapshot: swapSet('snapshot', codec, { staging: 'snapshot_next', ...forever }),
      watermark: watermark('watermark', codec as Codec<number>, forever),
      queue: workQueue('queue', asText, { lease: '30s', reason: 'a test', result: asText, keepCompleted: 5 }),
    }
    const keys = open(schema, connection, { prefix })
    const plant: string[][] = [
      ['SET', 'string', stored],
      ['HSET', 'hash', 'field', stored],
      ['RPUSH', 'list', stored, stored],
      ['SADD', 'set', stored],
      ['ZADD', 'sorted', '1', stored],
      ['XADD', 'stream', '1-1', 'field', stored],
      ['SET', 'cache', stored],
      ['RPUSH', 'recent', stored],
      ['HSET', 'scored', stored, stored],
      ['SADD', 'snapshot', stored],
      ['SET', 'watermark', stored],
      ['RPUSH', 'queue', `7 ${stored}`],
      ['HSET', 'queue:done', '7', stored],
    ]
    for (const [command, key, ...rest] of plant) await redis.command(command!, `${prefix}${key!}`, ...rest)
    const verbs: (() => unknown)[] = [
      () => keys.string().get(),
      () => keys.string().getAndDelete(),
      () => keys.string().update((value) => value),
      () => keys.string().set(given),
      () => keys.string().setIfAbsent(given),
      () => keys.string().getAndSet(given),
      () => keys.string.many([{}]).get(),
      () => keys.hash().get(),
      () => keys.hash().getField('field'),
      () => keys.hash().set({ field: given }),
      () => keys.hash().increment('field'),
      () => all(keys.hash().scan()),
      () => keys.hash().updateIf({ field: given }, { field: given }),
      () => keys.list().range(),
      () => keys.list().popFront(),
      () => keys.list().popBack(2),
      () => keys.list().at(0),
      () => keys.list().pushBack(given),
      () => keys.list().move('front', 'back'),
      () => all(keys.list().scan()),
      () => keys.set().members(),
      () => keys.set().pop(),
      () => keys.set().add(given),
      () => all(keys.set().scan()),
      () => keys.set.many([{}]).union(),
      () => keys.sorted().range(),
      () => keys.sorted().popLowest(),
      () => keys.sorted().add({ value: given, score: 1 }),
      () => keys.stream().range(),
      () => keys.stream().add({ field: given }),
      () => keys.stream().readAfter('0'),
      () => keys.cache().get(),
      () => keys.cache().getOrLoad(() => given),
      () => keys.cache.many([{}]).getOrLoad(async () => [given] as any[]),
      () => keys.recent().add(given),
      () => (keys.recent() as never as { values(): unknown }).values?.(),
      () => keys.seen().claim([given]),
      () => keys.seen().has(given),
      () => keys.scored().scores(),
      () => keys.scored().replace([[given, given]]),
      () => keys.scored().score(given),
      () => keys.snapshot().replace([given]),
      () => keys.snapshot().has(given),
      () => (keys.snapshot() as never as { values(): unknown }).values?.(),
      () => keys.watermark().get(),
      () => keys.watermark().advance(given as never),
      () => keys.queue().peek(),
      () => keys.queue().add([given]),
      () => keys.queue().result('7'),
      () => keys.queue().take('w'),
      () => keys.queue().complete('w', { id: '7', result: given }),
    ]
    for (const verb of verbs) await expectSecretKept(verb)
    await expectSecretKept(() => keys.string().get())
  },
)

test('no counter, window, sequence or lock tells what it cannot read', async () => {
  const prefix = `${unique()}:`
  const keys = open(
    {
      count: counter('count', ttl),
      next: sequence('next', forever),
      calls: quota('calls:<hour>', { limit: 5, ...ttl, params: { hour: param.hour } }),
      window: slidingWindow('window', { per: '1m', limit: 5 }),
      lock: lock('lock', { ttl: '10s', fence: 'fence' }),
    },
    connection,
    { prefix, now: () => 0 },
  )
  for (const key of ['count', 'next', 'window', 'fence', 'calls:1970-01-01_00'])
    await redis.command('SET', prefix + key, SECRET)
  for (const verb of [
    () => keys.count().get(),
    () => keys.count().increment(),
    () => keys.count().getAndReset(),
    () => keys.next().next(),
    () => keys.calls().take(),
    () => keys.calls().at(new Date(0)),
    () => keys.window().take(),
    () => keys.lock().acquire(),
  ])
    await expectSecretKept(verb)
})

test('no placeholder tells the value that it refuses', async () => {
  const codecs = {
    hour: param.hour,
    day: param.day,
    number: param.integer,
    ip: param.ip,
    digest: param.digest(),
    own: { name: 'own', encode: tellTale.encode as never, decode: () => undefined },
  }
  for (const [name, codec] of Object.entries(codecs)) {
    const { key } = open({ key: string(`${name}:<at>`, text, { ...ttl, params: { at: codec } }) }, connection)
    await expectSecretKept(() => key({ at: SECRET }).get())
    await expectSecretKept(() => key({ at: { digest: SECRET } }).get())
    await expectSecretKept(() => key({ at: `${SECRET}\ud800` }).get())
  }
  const { plain } = open({ plain: string('{plain}:<at>', text, ttl) }, connection)
  for (const at of [`${SECRET}:1`, `${SECRET}{`, `${SECRET}\ud800`, SECRET.repeat(1000)]) {
    await expectSecretKept(() => plain({ at }).get())
    await expect(plain({ at }).get()).rejects.toMatchObject({ code: 'E_KEY' })
  }
})

test('a server that does not know a command quotes what it was given; the error does not', () => {
  const reply = `ERR unknown command 'LMPOP', with args beginning with: 'k' '${SECRET}' `
  expect(told(new ServerError(reply, 'LMPOP', 'k'))).not.toContain(SECRET)
})

test('the words of an error still say what is wrong, and where', async () => {
  const prefix = `${unique()}:`
  const keys = open(
    { user: string('user', json(byValibot), ttl), own: string('own', tellTale, ttl) },
    connection,
    { prefix },
  )
  await redis.command('SET', `${prefix}user`, broken)
  await expect(keys.user().get()).rejects.toThrow(
    /user: holds a value that is not json: email: Invalid email; age: Invalid type: Expected number$/,
  )
  await redis.command('SET', `${prefix}user`, '{"email":')
  await expect(keys.user().get()).rejects.toThrow(/it is not valid JSON \(.*9 characters\)/)
  await expect(keys.own().set(SECRET)).rejects.toThrow(
    /not tell-tale: its Error is left out, since it quotes the value/,
  )
})
