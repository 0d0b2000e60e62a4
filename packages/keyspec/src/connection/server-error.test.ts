import { afterAll, beforeAll, expect, test } from 'vitest'
import { connections } from '../../../../test-support/connections.ts'
import { stream } from '../kind/stream.ts'
import { text } from '../codec/text.ts'
import { open } from '../keyspace.ts'
import { eventually, startRedis, type TemporaryRedis, unique } from '../testing/index.ts'
import { isUnavailable, ServerError } from './server-error.ts'

let redis: TemporaryRedis
beforeAll(async () => {
  redis = await startRedis({ port: 'any' })
})
afterAll(() => redis.stop())

test.each(connections)(
  '%s: a read that waits while its master becomes a replica is told to try again',
  async (_, connect) => {
    const { connection, close } = await connect(redis)
    const schema = { events: stream('events:<id>', { what: text }, { ttl: '1h' }) }
    const { events } = open(schema, connection, { prefix: `${unique()}:` })
    const waits = events({ id: 1 })
      .readAfter('$', { wait: '20s' })
      .catch((error: unknown) => error)
    try {
      await eventually(async () =>
        expect(String(await redis.command('INFO', 'clients'))).toContain('blocked_clients:1'),
      )
      await redis.command('REPLICAOF', '127.0.0.1', '1')
      const error = await waits
      expect(error).toMatchObject({ code: 'E_NOT_READY' })
      expect(isUnavailable(error)).toBe(true)
    } finally {
      await redis.command('REPLICAOF', 'NO', 'ONE')
      await close()
    }
  },
)

test.each(['MOVED 3999 127.0.0.1:6381', 'ASK 3999 127.0.0.1:6381'])(
  '%s is a mistake where the client does not follow, and passes where it does',
  (reply) => {
    const plain = new ServerError(reply, 'GET', 'k')
    expect(plain).toMatchObject({
      code: 'E_WRONG_NODE',
      message: expect.stringContaining('use a client for clusters and its adapter'),
    })
    expect(isUnavailable(plain)).toBe(false)
    const followed = new ServerError(reply, 'GET', 'k', undefined, { follows: true })
    expect(followed).toMatchObject({ code: 'E_NOT_READY', message: expect.stringContaining('try again') })
    expect(isUnavailable(followed)).toBe(true)
  },
)
