import fc from 'fast-check'
import { expect, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { text } from '../codec/text.ts'
import { KeyError, SchemaError } from '../errors.ts'
import { open } from '../keyspace.ts'
import { day, digest, hour, number } from '../param.ts'
import { unique } from '../testing/index.ts'
import { string } from './string.ts'

const { redis, connection } = await connected()
const forever = { ttl: 'forever', because: 'a test' } as const
const schema = {
  session: string('session:<userId>', text, { ttl: '1h' }),
  task: string('task:<run*>:<task>', text, forever),
  tagged: string('queue:{<name>}:job:<id>', text, forever),
  last: string('last', text, forever),
  hourly: string('calls:<at>:<id>', text, { ...forever, params: { at: hour, id: number } }),
  daily: string('day:<at>', text, { ...forever, params: { at: day } }),
  cached: string('cache:<content>', text, { ...forever, params: { content: digest(16) } }),
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
  ['a colon', { userId: 'a:b' }, /<userId> is "a:b": a ":" would make it another key/],
  ['no value', {}, /<userId> has no value/],
  ['null', { userId: null }, /<userId> has no value/],
  ['a lone surrogate', { userId: 'a\ud800' }, /not well-formed Unicode/],
  ['NaN', { userId: Number.NaN }, /<userId> is NaN, not a text or a finite number/],
  ['infinity', { userId: Infinity }, /<userId> is Infinity/],
  ['an object', { userId: {} }, /<userId> is a object/],
  ['a boolean', { userId: true }, /<userId> is a boolean/],
])('%s is no placeholder’s value', (_, params, message) => {
  const { keys } = fresh()
  const asking = () => keys.session(params as never)
  expect(asking).toThrow(KeyError)
  expect(asking).toThrow(message)
})

test('a value that would change the hash tag, or that its codec refuses, is a KeyError', () => {
  const { keys } = fresh()
  for (const name of ['a{b', 'a}b', '{}']) {
    expect(() => keys.tagged({ name, id: 1 })).toThrow(/a brace would change the hash tag/)
    expect(() => keys.tagged({ name: 'a', id: name })).toThrow(KeyError)
  }
  expect(keys.session({ userId: '{}' }).name).toMatch(/session:\{\}$/)
  expect(() => keys.hourly({ at: new Date(Number.NaN), id: 1 })).toThrow(KeyError)
  expect(() => keys.hourly({ at: new Date(), id: 1.5 })).toThrow(
    /<id> is not number: 1.5 is not a whole number/,
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
  expect(() => keys.session.many([{ userId: 1 }, { userId: '' }])).toThrow(KeyError)
})

test('a declaration of a placeholder that is not there is refused', () => {
  expect(() => string('a:<x>', text, { ...forever, subject: 'y' as never })).toThrow(SchemaError)
  expect(() => string('a:<x>', text, { ...forever, params: { y: hour } as never })).toThrow(
    '"a:<x>" has no placeholder <y>',
  )
  expect(() => string('a:<x>', text, { ...forever, was: ['b:<y>'] })).toThrow(
    'both need the same placeholders',
  )
})
