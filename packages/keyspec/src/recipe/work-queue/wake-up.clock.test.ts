import { createClient } from 'redis'
import { expect, onTestFinished, test, vi } from 'vitest'
import { text } from '../../codec/text.ts'
import type { Subscriber } from '../../connection/connection.ts'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { open } from '../../keyspace.ts'
import { unique } from '../../testing/eventually.ts'
import { startRedis } from '../../testing/redis.ts'
import type { WorkQueue } from './queue.ts'
import { workQueue } from './work-queue.ts'

const declared = workQueue('jobs', text, { lease: '10s' })

test('a waiting worker is woken by a message alone: of an add, of a release, of a lease that ran out', async () => {
  const server = await startRedis()
  const [client, listener] = await Promise.all(
    [0, 1].map(async () => createClient({ socket: { path: server.socket, tls: false } }).connect()),
  )
  onTestFinished(async () => {
    client!.destroy()
    listener!.destroy()
    await server.stop()
  })
  const subscriber: Subscriber = {
    async subscribe(channel, heard) {
      await listener!.subscribe(channel, heard)
      return () => listener!.unsubscribe(channel, heard)
    },
  }
  // No pause of a worker ever ends by itself, so that nothing but a message can wake it.
  const realTimeout = setTimeout
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const eventually = async (isSo: () => Promise<boolean>) => {
    while (!(await isSo())) await new Promise((resolve) => realTimeout(resolve, 5))
  }
  let now = 0
  const prefix = `${unique()}:`
  const queue = open({ declared }, fromNodeRedis(client!), { prefix, subscriber, now: () => now }).declared()
  const channel = `${prefix}jobs:waiting`
  const turns = async () => {
    const calls = /cmdstat_(?:eval|evalsha):calls=(\d+)/g
    const stats = String(await server.command('INFO', 'commandstats'))
    return [...stats.matchAll(calls)].reduce((sum, [, count]) => sum + Number(count), 0)
  }
  /** Waits until the worker has asked once, and sleeps; then does something, and expects it to be woken by that. */
  const woken = async (
    worker: string,
    act: (queue: WorkQueue<string, string, unknown, unknown>) => unknown,
  ) => {
    const before = await turns()
    const waiting = queue.takeWhenAvailable(worker, { wait: '60d' })
    const listeners = async () => ((await server.command('PUBSUB', 'NUMSUB', channel)) as [string, number])[1]
    await eventually(async () => (await listeners()) === 1 && (await turns()) === before + 1)
    await act(queue)
    expect(await waiting).toHaveLength(1)
    await eventually(async () => (await listeners()) === 0)
  }
  await woken('a', () => queue.add(['job']))
  await woken('b', () => queue.release('a', [1]))
  await woken('c', () => {
    now = 20_000
    return queue.recoverExpired()
  })
})
