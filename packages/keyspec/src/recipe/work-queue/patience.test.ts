import { createClient } from 'redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { text } from '../../codec/text.ts'
import type { Connection, Subscriber } from '../../connection/connection.ts'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { open } from '../../keyspace.ts'
import { startRedis, type TemporaryRedis, unique } from '../../testing/index.ts'
import { workQueue } from './work-queue.ts'

let server: TemporaryRedis
let connection: Connection
let close: () => void
beforeAll(async () => {
  server = await startRedis()
  const client = createClient({ socket: { path: server.socket, tls: false } })
  await client.connect()
  connection = fromNodeRedis(client)
  close = () => client.destroy()
})
afterAll(async () => {
  close()
  await server.stop()
})

const gone = () => Promise.reject(new Error('the connection of the subscriber was lost'))
const subscribers: readonly [name: string, Subscriber][] = [
  ['cannot stop to listen', { subscribe: async () => gone }],
  ['cannot listen', { subscribe: gone }],
  ['does not answer', { subscribe: () => new Promise(() => {}) }],
]

test.each(subscribers)(
  'a worker gets its jobs, and ends its wait, if its subscriber %s',
  async (_, subscriber) => {
    const schema = { jobs: workQueue('jobs', text, { lease: '10s' }) }
    const queue = open(schema, connection, { prefix: `${unique()}:`, subscriber }).jobs()
    expect(await queue.takeWhenAvailable('w', { wait: '30ms' })).toEqual([])
    const taking = queue.takeWhenAvailable('w', { wait: '1h' })
    await queue.add(['job'])
    expect(await taking).toEqual([{ id: '1', job: 'job' }])
  },
)
