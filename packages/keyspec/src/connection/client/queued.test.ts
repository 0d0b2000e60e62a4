import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connections } from '../../../../../test-support/connections.ts'
import { bytes } from '../../codec/bytes.ts'
import { text } from '../../codec/text.ts'
import { open } from '../../keyspace.ts'
import { counter } from '../../kind/counter.ts'
import { hash } from '../../kind/hash.ts'
import { list } from '../../kind/list.ts'
import { set } from '../../kind/set.ts'
import { sortedSet } from '../../kind/sorted-set.ts'
import { stream } from '../../kind/stream.ts'
import { string } from '../../kind/string.ts'
import { fixedWindow } from '../../recipe/fixed-window/fixed-window.ts'
import { lock } from '../../recipe/lock/lock.ts'
import { workQueue } from '../../recipe/work-queue/work-queue.ts'
import { startRedis, type TemporaryRedis, unique } from '../../testing/index.ts'
import { NO_KEY, ONE_KEY } from '../connection.ts'
import { isUnavailable } from '../server-error.ts'

let redis: TemporaryRedis
beforeAll(async () => {
  redis = await startRedis({ port: 'any' })
})
afterAll(() => redis.stop())

const options = { ttl: '1m' } as const
const schema = {
  note: string('note:<id>', text, options),
  blob: string('blob:<id>', bytes, options),
  hits: counter('hits:<id>', options),
  user: hash('user:<id>', { name: text }, options),
  last: list('last:<id>', text, options),
  tags: set('tags:<id>', text, options),
  rank: sortedSet('rank:<id>', text, options),
  events: stream('events:<id>', { what: text }, options),
  rate: fixedWindow('rate:<id>', { per: '1m', limit: 2, unreachable: 'admit' }),
  job: lock('job:<id>', { ttl: '10s', unreachable: 'proceed' }),
  mail: workQueue('mail', text, { lease: '10s' }),
}

async function drained(from: AsyncIterable<unknown>): Promise<number> {
  let count = 0
  for await (const each of from) count += each === undefined ? 0 : 1
  return count
}

describe.each(connections)('%s', (_, connect) => {
  test('a client in a transaction of the program: no verb takes QUEUED for a reply', async () => {
    const { connection, close } = await connect(redis)
    try {
      const keys = open(schema, connection, { prefix: `${unique()}:` })
      const id = { id: 1 }
      const verbs: Readonly<Record<string, () => Promise<unknown>>> = {
        get: () => keys.note(id).get(),
        'get of bytes': () => keys.blob(id).get(),
        'many gets': () => keys.note.many([id, { id: 2 }]).get(),
        set: () => keys.note(id).set('x'),
        delete: () => keys.note(id).delete(),
        getAndDelete: () => keys.note(id).getAndDelete(),
        scan: () => drained(keys.note.scan()),
        increment: () => keys.hits(id).increment(),
        'a hash': () => keys.user(id).get(),
        'a field': () => keys.user(id).has('name'),
        'scan of a hash': () => drained(keys.user(id).scan()),
        'scan of a set': () => drained(keys.tags(id).scan()),
        'scan of a sorted set': () => drained(keys.rank(id).scan()),
        pop: () => keys.last(id).popFront(),
        'add to a stream': () => keys.events(id).add({ what: 'x' }),
        take: () => keys.rate(id).take(),
        using: () => keys.job(id).using(() => expect.unreachable()),
        'add of a job': () => keys.mail().add(['x']),
        'jobs in progress': () => drained(keys.mail().inProgress()),
      }
      await keys.rate(id).peek()
      await connection.send(['MULTI'], NO_KEY)
      for (const [verb, run] of Object.entries(verbs)) {
        const error = await run().then(
          (value) => ({ value }),
          (error: unknown) => error,
        )
        expect.soft(error, verb).toMatchObject({
          code: 'E_IN_TRANSACTION',
          message: expect.stringContaining('give Keyspec a client of its own'),
        })
        expect.soft(isUnavailable(error), verb).toBe(false)
      }
      await connection.send(['DISCARD'], NO_KEY)

      // Even if EXEC overtakes the question whether there is a transaction, a read answers what is stored.
      await keys.note(id).set('stored')
      const { name } = keys.note(id)
      await connection.send(['MULTI'], NO_KEY)
      const [read] = await Promise.all([
        connection.send(['GET', name], ONE_KEY),
        connection.send(['EXEC'], NO_KEY),
      ])
      expect(read).toBe('stored')
      await keys.note(id).delete()
      expect(await keys.note(id).get()).toBeUndefined()
    } finally {
      await close()
    }
  })

  test('a stored value that reads QUEUED is a value', async () => {
    const { connection, close } = await connect(redis)
    try {
      const keys = open(schema, connection, { prefix: `${unique()}:` })
      const id = { id: 1 }
      await keys.note(id).set('QUEUED')
      await keys.blob(id).set(Buffer.from('QUEUED'))
      await keys.user(id).set({ name: 'QUEUED' })
      await keys.last(id).pushBack('QUEUED')
      expect(await keys.note(id).get()).toBe('QUEUED')
      expect(await keys.blob(id).get()).toEqual(Buffer.from('QUEUED'))
      expect(await keys.user(id).get()).toEqual({ name: 'QUEUED' })
      expect(await keys.last(id).popFront()).toBe('QUEUED')
      expect(await keys.note(id).getAndDelete()).toBe('QUEUED')
    } finally {
      await close()
    }
  })
})
