import fc from 'fast-check'
import { expect, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { text } from '../codec/text.ts'
import { KeyError, SchemaError } from '../errors.ts'
import { open } from '../keyspace.ts'
import { param } from '../param.ts'
import { unique } from '../testing/index.ts'
import { string } from './string.ts'

const { redis, connection } = await connected()
const forever = { ttl: 'forever', reason: 'a test' } as const
const schema = {
  session: string('session:<userId>', text, { ttl: '1h' }),
  task: string('task:<run*>:<task>', text, forever),
  tagged: string('queue:{<name>}:job:<id>', text, forever),
  last: string('last', text, forever),
  hourly: string('calls:<at>:<id>', text, { ...forever, params: { at: param.hour, id: param.integer } }),
  daily: string('day:<at>', text, { ...forever, params: { at: param.day } }),
  cached: string('cache:<content>', text, { ...forever, params: { content: param.digest(16) } }),
}
const fresh = (prefix = `${unique()}:`) => ({ prefix, keys: open(schema, connection, { prefix }) })

test('a key has the name that its values make, prefix and all', () => {
  const { keys } = fresh('prod:')
  expect(keys.session({ userId: 'u1' }).name).toBe('prod:session:u1')
  expect(keys.session({ userId: 42 }).name).toBe('prod:session:42')
  expect(keys.session({ userId: 12345678901234567890n }).name).toBe('prod:session:12345678901234567890')
  expect(keys.task({ run: 'manual_2024-09-17T14:30:00+00:00', task: 't' }).name).toBe(
    'prod:task:manual_2024-09-17T14:30:00+00:00:t',
  )
  expect(keys.last().name).toBe('prod:last')
  expect(keys.last({}).name).toBe('prod:last')
  expect(keys.hourly({ at: new Date('2024-09-17T14:59:59Z'), id: 7 }).name).toBe('prod:calls:2024-09-17_14:7')
  expect(keys.cached({ content: 'x' }).name).toBe('prod:cache:2d711642b726b044')
})

test.each([
  ['an empty value', { userId: '' }, /session:<userId>: <userId> is empty/],
  ['a colon', { userId: 'a:b' }, /<userId> has a ":" at 1, which would make it another key/],
  ['no value', {}, /<userId> has no value/],
  ['null', { userId: null }, /<userId> has no value/],
  ['a lone surrogate', { userId: 'a\ud800' }, /not well-formed Unicode/],
  ['NaN', { userId: Number.NaN }, /<userId> is NaN, not a text or a finite number/],
  ['infinity', { userId: Infinity }, /<userId> is Infinity/],
  ['an object', { userId: {} }, /<userId> is a object/],
  ['a boolean', { userId: true }, /<userId> is a boolean/],
  ['a text of a megabyte', { userId: 'x'.repeat(2 ** 20) }, /a key has at most 1024 bytes/],
])('%s is no placeholder’s value: the verbs reject', async (_, params, message) => {
  const { keys } = fresh()
  const refused = await keys
    .session(params as never)
    .get()
    .catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(KeyError)
  expect((refused as KeyError).message).toMatch(message)
  expect((refused as KeyError).message.length).toBeLessThan(300)
})

test('a value that would change the hash tag, or that its codec refuses, is a KeyError', async () => {
  const { keys } = fresh()
  for (const name of ['a{b', 'a}b', '{}']) {
    await expect(keys.tagged({ name, id: 1 }).get()).rejects.toThrow(
      /a brace, which would change the hash tag/,
    )
    await expect(keys.tagged({ name: 'a', id: name }).get()).rejects.toThrow(KeyError)
  }
  expect(keys.session({ userId: '{}' }).name).toMatch(/session:\{\}$/)
  await expect(keys.hourly({ at: new Date(Number.NaN), id: 1 }).get()).rejects.toThrow(KeyError)
  await expect(keys.hourly({ at: new Date(), id: 1.5 }).get()).rejects.toThrow(
    /<id> is not integer: it is not a whole number/,
  )
})

test('a key is parsed back into what it was made of', () => {
  const { keys } = fresh('p:')
  expect(keys.session.parse('p:session:42')).toEqual({ userId: '42' })
  expect(keys.session.parse('session:42')).toBeUndefined()
  expect(keys.session.parse('p:session:4:2')).toBeUndefined()
  expect(keys.task.parse('p:task:a:b:c')).toEqual({ run: 'a:b', task: 'c' })
  expect(keys.last.parse('p:last')).toEqual({})
  expect(keys.hourly.parse('p:calls:2024-09-17_14:7')).toEqual({
    at: new Date('2024-09-17T14:00:00Z'),
    id: 7,
  })
  expect(keys.hourly.parse('p:calls:2024-09-17_25:7')).toBeUndefined()
  expect(keys.daily.parse('p:day:2024-02-30')).toBeUndefined()
  const parsed = keys.cached.parse(keys.cached({ content: 'x' }).name)!
  expect(keys.cached(parsed).name).toBe(keys.cached({ content: 'x' }).name)
})

test('any value that is taken is parsed back', () => {
  const value = fc.string({ unit: fc.constantFrom(...Array.from('ab1:{}<>*?[]\\ \0\n-é中😀'), '\ud800') })
  const { keys } = fresh()
  fc.assert(
    fc.property(value, value, (run, task) => {
      let name: string
      try {
        ;({ name } = keys.task({ run, task }))
      } catch (error) {
        expect(error).toBeInstanceOf(KeyError)
        return
      }
      expect(keys.task.parse(name)).toEqual({ run, task })
    }),
  )
})

test('a scan shows the keys of the entry and of no other, in batches', async () => {
  const { prefix, keys } = fresh()
  const ids = Array.from({ length: 900 }, (_, i) => `${i}`)
  await keys.session.many(ids.map((userId) => ({ userId }))).set(ids)
  await redis.command(
    'MSET',
    `${prefix}session:`,
    '',
    `${prefix}session:a:b`,
    '',
    `${prefix}sessions:x`,
    '',
    'session:x',
    '',
  )
  await keys.last().set('x')
  const found = await all(keys.session.scan({ count: 50 }))
  expect(found.map(({ params }) => params.userId).toSorted()).toEqual(ids.toSorted())
  expect(await found[7]?.key.get()).toBe(found[7]?.params.userId)
  expect((await all(keys.last.scan())).map(({ key }) => key.name)).toEqual([`${prefix}last`])
  expect(await all(keys.task.scan())).toEqual([])
})

test('a scan is not led astray by the signs of a glob, in the prefix, the pattern or a value', async () => {
  const signs = ['*', '?', '[a]', '[^a]', '\\', '\\*', 'a]', 'x*y', '[', '^', '-']
  for (const prefix of ['*', '?', '[ab]', '\\', 'a\\'].map((sign) => `${unique()}${sign}`)) {
    const odd = { odd: string('o*d?[x]\\<value>', text, forever) }
    const keys = open(odd, connection, { prefix })
    for (const value of signs) await keys.odd({ value }).set(value)
    await redis.command('MSET', `${prefix}oxxd1x1`, '', prefix.replace(/.$/, 'aoxd?[x]\\q'), '')
    const found = await all(keys.odd.scan())
    expect(found.map(({ params }) => params.value).toSorted()).toEqual(signs.toSorted())
    for (const { params, key } of found) expect(await key.get()).toBe(params.value)
  }
})

test('many keys are counted and deleted, more than one command would take', async () => {
  const { prefix, keys } = fresh()
  const all = Array.from({ length: 1100 }, (_, userId) => ({ userId }))
  await keys.session.many(all).set(all.map(({ userId }) => `${userId}`))
  const many = keys.session.many([...all, { userId: 'absent' }])
  expect([...many].at(-1)?.name).toBe(`${prefix}session:absent`)
  expect(await many.exists()).toBe(1100)
  expect(await many.delete()).toBe(1100)
  expect(await many.exists()).toBe(0)
  expect(await keys.session.many([]).delete()).toBe(0)
  const [named, unnamed] = [...keys.session.many([{ userId: 1 }, { userId: '' }])]
  expect(await named!.exists()).toBe(false)
  await expect(unnamed!.exists()).rejects.toThrow(KeyError)
  await expect(keys.session.many([{ userId: 1 }, { userId: '' }]).delete()).rejects.toThrow(KeyError)
})

test('a declaration of a placeholder that is not there is refused', () => {
  expect(() => string('a:<x>', text, { ...forever, subject: 'y' as never })).toThrow(SchemaError)
  expect(() => string('a:<x>', text, { ...forever, params: { y: param.hour } as never })).toThrow(
    '"a:<x>" has no placeholder <y>',
  )
  expect(() => string('a:<x>', text, { ...forever, renamedFrom: { pattern: 'b:<y>', phase: 2 } })).toThrow(
    'both need the same placeholders',
  )
})
