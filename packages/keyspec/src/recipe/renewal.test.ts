import { describe, expect, test } from 'vitest'
import { connected } from '../../../../test-support/connected.ts'
import { integer } from '../codec/integer.ts'
import { text } from '../codec/text.ts'
import { open } from '../keyspace.ts'
import type { LifetimeOptions } from '../kind/lifetime.ts'
import { unique } from '../testing/eventually.ts'
import { cappedList } from './capped-list/capped-list.ts'
import { dedupe } from './dedupe/dedupe.ts'
import { sequence } from './sequence/sequence.ts'
import { watermark } from './watermark/watermark.ts'

const { redis, connection } = await connected()

const kinds = (lifetime: LifetimeOptions) => ({
  seen: dedupe('seen', text, lifetime),
  sequence: sequence('sequence', lifetime),
  watermark: watermark('watermark', integer, lifetime),
  recent: cappedList('recent', text, { ...lifetime, most: 10 }),
})
const fresh = (lifetime: LifetimeOptions) => open(kinds(lifetime), connection, { prefix: `${unique()}:` })
type Keys = ReturnType<typeof fresh>

/** Every verb of a recipe that writes a key whose lifetime the schema declares; `n` rises with each call. */
const writes: readonly (readonly [
  name: string,
  kind: keyof Keys,
  call: (keys: Keys, n: number) => Promise<unknown>,
])[] = [
  ['dedupe.claim', 'seen', (keys, n) => keys.seen().claim([`id ${n}`])],
  ['sequence.next', 'sequence', (keys) => keys.sequence().next()],
  ['sequence.next of several', 'sequence', (keys) => keys.sequence().nextMany(3)],
  ['sequence.atLeast', 'sequence', (keys, n) => keys.sequence().atLeast(n * 10)],
  ['watermark.advance', 'watermark', (keys, n) => keys.watermark().advance(n)],
  ['cappedList.add', 'recent', (keys, n) => keys.recent().add(`value ${n}`)],
]

describe.each(writes)('%s', (_name, kind, call) => {
  const nameOf = (keys: Keys) => keys[kind]().name
  const pttl = async (keys: Keys) => Number(await redis.command('PTTL', nameOf(keys)))

  test.each(['creation', 'write', 'read'] as const)(
    'renewed at %s gives a new key its time to live',
    async (renew) => {
      const keys = fresh({ ttl: '1h', renew })
      await call(keys, 1)
      expect(await pttl(keys)).toBeGreaterThan(3_590_000)
      expect(await pttl(keys)).toBeLessThanOrEqual(3_600_000)
    },
  )

  test.each(['write', 'read'] as const)('renewed at %s begins the time to live anew', async (renew) => {
    const keys = fresh({ ttl: '1h', renew })
    await call(keys, 1)
    await redis.command('PEXPIRE', nameOf(keys), '60000')
    await call(keys, 2)
    expect(await pttl(keys)).toBeGreaterThan(3_590_000)
  })

  test('renewed at creation leaves the time that a key has left', async () => {
    const keys = fresh({ ttl: '1h', renew: 'creation' })
    await call(keys, 1)
    await redis.command('PEXPIRE', nameOf(keys), '60000')
    await call(keys, 2)
    expect(await pttl(keys)).toBeGreaterThan(0)
    expect(await pttl(keys)).toBeLessThanOrEqual(60_000)
  })

  test('renewed at creation gives a time to live to a key that has none', async () => {
    const keys = fresh({ ttl: '1h', renew: 'creation' })
    await call(keys, 1)
    await redis.command('PERSIST', nameOf(keys))
    await call(keys, 2)
    expect(await pttl(keys)).toBeGreaterThan(3_590_000)
  })

  test('gives none where none is declared, and takes none away', async () => {
    const keys = fresh({ ttl: 'forever', reason: 'a test' })
    await call(keys, 1)
    expect(await pttl(keys)).toBe(-1)
    await redis.command('PEXPIRE', nameOf(keys), '60000')
    await call(keys, 2)
    expect(await pttl(keys)).toBeGreaterThan(0)
  })
})
