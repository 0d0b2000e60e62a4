import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connected } from '../../../../../test-support/connected.ts'
import { startProxy } from '../../../../../test-support/proxy.ts'
import { text } from '../../codec/text.ts'
import { open } from '../../keyspace.ts'
import { cache } from '../../recipe/cache/cache.ts'
import { lock } from '../../recipe/lock/lock.ts'
import { workQueue } from '../../recipe/work-queue/work-queue.ts'
import { eventually, unique } from '../../testing/eventually.ts'
import { NO_KEY, type Subscriber } from '../connection.ts'
import { subscriberFromIoredis } from './ioredis.ts'
import { subscriberFromNodeRedis } from './node-redis.ts'
import { punctual } from './punctual.ts'

const { redis, connection } = await connected()

/** Subscribers over clients that are closed after the test. */
const subscribers: readonly (readonly [name: string, over: (path: string) => Promise<Subscriber>])[] = [
  [
    'node-redis',
    async (path) => {
      const client = createClient({ socket: { path, tls: false, reconnectStrategy: 5 } })
      client.on('error', () => {})
      onTestFinished(() => client.destroy())
      await client.connect()
      return subscriberFromNodeRedis(client)
    },
  ],
  [
    'ioredis',
    async (path) => {
      const client = new Redis({ path, retryStrategy: () => 5 })
      client.on('error', () => {})
      onTestFinished(() => client.disconnect())
      await client.ping()
      return subscriberFromIoredis(client)
    },
  ],
]

const schema = {
  jobs: workQueue('jobs', text, { lease: '10s' }),
  mutex: lock('mutex', { ttl: '10s' }),
  page: cache('page:<id>', text, { ttl: '1m' }),
}

describe.each(subscribers)('a subscriber over %s whose connection is half open', (_name, over) => {
  test('rejects within its bound, sends nothing more, and works again with the next connection', async () => {
    await using proxy = await startProxy(redis)
    const client = await over(proxy.socket!)
    let asked = 0
    const bounded = punctual(
      {
        subscribe(channel, heard) {
          asked += 1
          return client.subscribe(channel, heard)
        },
      },
      200,
    )
    const channel = unique()
    const heard: string[] = []
    const publish = async (message: string) => {
      await connection.send(['PUBLISH', channel, message], NO_KEY)
    }
    const stop = await bounded.subscribe(channel, (message) => heard.push(message))
    await publish('before')
    await eventually(() => expect(heard).toEqual(['before']))
    await stop()

    proxy.halfOpen()
    const late = bounded.subscribe(`${channel} late`, () => heard.push('late'))
    await expect(late).rejects.toMatchObject({
      code: 'E_UNKNOWN_OUTCOME',
      key: `${channel} late`,
      message: `no answer to SUBSCRIBE ${channel} late within 200 ms: it may be under way`,
    })
    for (let n = 0; n < 100; n++)
      await expect(bounded.subscribe(channel, () => {})).rejects.toMatchObject({
        code: 'E_NOT_SENT',
        key: channel,
        message: `SUBSCRIBE ${channel} was not sent: an earlier one has no answer yet`,
      })
    expect(asked).toBe(2)

    proxy.cut()
    const again = await eventually(() => bounded.subscribe(channel, (message) => heard.push(message)))
    await publish('after')
    await eventually(() => expect(heard).toContain('after'))
    // The late one ended by itself.
    const subscribed = () => connection.send(['PUBSUB', 'NUMSUB', `${channel} late`], NO_KEY)
    await eventually(async () => expect(await subscribed()).toEqual([`${channel} late`, 0]))
    await again()
    expect(heard).not.toContain('late')
  })

  test('holds up no verb that waits for longer than a pause', async () => {
    await using proxy = await startProxy(redis)
    const prefix = `${unique()}:`
    const keys = open(schema, connection, { prefix, subscriber: await over(proxy.socket!) })
    const other = open(schema, connection, { prefix })
    // Each of them listens once before the connection is gone.
    expect(await keys.jobs().takeWhenAvailable('w', { wait: '20ms' })).toEqual([])
    const held = await other.mutex().acquire()
    if (!held.acquired) throw new Error('held')
    expect(await keys.mutex().acquire({ wait: '20ms' })).toMatchObject({ acquired: false })
    proxy.halfOpen()

    const begun = performance.now()
    const [job, mine, loaded] = [
      keys.jobs().takeWhenAvailable('w', { wait: '1h' }),
      keys.mutex().acquire({ wait: '1h' }),
      other.page({ id: 1 }).getOrLoad(async () => 'theirs'),
    ]
    await other.jobs().add(['job'])
    await held.release()
    expect(await job).toMatchObject([{ job: 'job' }])
    expect(await mine).toMatchObject({ acquired: true })
    expect([await loaded, await keys.page({ id: 1 }).getOrLoad(() => 'ours')]).toEqual(['theirs', 'theirs'])
    // 1 s until it asks without having heard that it listens, and a busy machine.
    expect(performance.now() - begun).toBeLessThan(4000)
  })
})
