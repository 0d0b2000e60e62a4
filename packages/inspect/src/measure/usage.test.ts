import { string, text } from 'keyspec'
import { fromNodeRedis } from 'keyspec/node-redis'
import { workQueue } from 'keyspec/recipes'
import { startRedis, unique } from 'keyspec/testing'
import { createClient } from 'redis'
import { expect, onTestFinished, test } from 'vitest'
import { usage } from './usage.ts'

const schema = {
  session: string('session:<id>', text, { ttl: '1h', renamedFrom: { pattern: 'sess:<id>', phase: 2 } }),
  jobs: workQueue('jobs', text, { lease: '1s' }),
}

async function start() {
  const server = await startRedis()
  const client = createClient({ socket: { path: server.socket, tls: false } })
  await client.connect()
  onTestFinished(async () => {
    client.destroy()
    await server.stop()
  })
  return { server, connection: fromNodeRedis(client) }
}

test('counts the keys and the memory of every pattern, and last what no entry owns', async () => {
  const { server, connection } = await start()
  const prefix = `${unique()}[?]:`
  for (let id = 0; id < 1200; id += 1) void server.command('SET', `${prefix}session:${id}`, 'x'.repeat(100))
  await server.command('SET', `${prefix}sess:old`, 'x')
  await server.command('RPUSH', `${prefix}jobs:waiting`, '1 a', '2 b')
  await server.command('SET', `${prefix}stray`, 'x')
  await server.command('SET', 'outside', 'x')

  const rows = []
  for (const { owned, keys, bytes } of await usage(schema, connection, { prefix })) {
    rows.push({ entry: owned?.entry, pattern: owned?.pattern.text.slice(prefix.length), keys, bytes })
  }
  const list = (await server.command('MEMORY', 'USAGE', `${prefix}jobs:waiting`)) as number
  expect(rows.slice(0, 3)).toMatchObject([
    { entry: 'session', pattern: 'session:<id>', keys: 1200 },
    { entry: 'session', pattern: 'sess:<id>', keys: 1 },
    { entry: 'jobs', pattern: 'jobs:waiting', keys: 1, bytes: list },
  ])
  expect(rows[0]!.bytes).toBeGreaterThan(1200 * 100)
  expect(rows.find(({ pattern }) => pattern === 'jobs:failed')).toMatchObject({ keys: 0, bytes: 0 })
  expect(rows.at(-1)).toMatchObject({ entry: undefined, keys: 1 })
})

test('without a prefix looks at all keys there are', async () => {
  const { server, connection } = await start()
  await server.command('SET', 'session:1', 'x')
  await server.command('SET', 'stray', 'x')
  const rows = await usage(schema, connection, { count: 1 })
  expect(rows.filter(({ keys }) => keys > 0).map(({ owned }) => owned?.entry)).toEqual(['session', undefined])
})
