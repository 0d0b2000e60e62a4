import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import { startRedis } from '../../testing/redis.ts'

// A worker as a process of its own, over the library as it is built: it adds its jobs under a token, then finishes and
// takes ten at a time, and ends when nothing has been left for a while.
const WORKER = `
import { createClient } from 'redis'
const [socket, name, dist] = process.argv.slice(1)
const { open, text } = await import(dist + 'index.js')
const { workQueue } = await import(dist + 'recipe/index.js')
const { fromNodeRedis } = await import(dist + 'connection/client/node-redis.js')
const client = createClient({ socket: { path: socket } })
await client.connect()
const schema = {
  jobs: workQueue('jobs', text, {
    lease: '1s', attempts: 50, keepCompleted: 100000, result: text,
    counters: { by: 'kind', also: { completed: 'completed' } },
  }),
}
const queue = open(schema, fromNodeRedis(client)).jobs()
const jobs = Array.from({ length: 300 }, (_, n) => name + ' ' + n)
await Promise.all([queue.add(jobs, { token: name }), queue.add(jobs, { token: name })])
console.log('added')
for (let completed = [], empty = 0; empty < 40;) {
  const { taken } = await queue.completeAndTake(name, { completed, take: 10 })
  completed = taken.map(({ id, job }) => ({ id, result: job, add: { completed: 1 } }))
  if (taken.length === 0) {
    await queue.recoverExpired()
    await new Promise((resolve) => setTimeout(resolve, 50))
    empty += 1
  } else empty = 0
}
client.destroy()
`

test('workers in several processes do each job once, while some are killed and the scripts are flushed', async () => {
  const redis = await startRedis()
  const dist = new URL('../../../dist/', import.meta.url).href
  const children: ChildProcess[] = []
  onTestFinished(async () => {
    for (const child of children) child.kill('SIGKILL')
    await redis.stop()
  })
  const start = (name: string) => {
    const words = ['--input-type=module', '-e', WORKER, redis.socket, name, dist]
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    return { child, exit: once(child, 'exit'), added: once(child.stdout, 'data') }
  }
  const workers = ['a', 'b', 'c', 'd'].map(start)
  await Promise.all(workers.map(({ added }) => added))
  const completed = async () => Number(await redis.command('GET', 'completed'))
  await eventually(async () => expect(await completed()).toBeGreaterThan(50), { within: '30s' })
  workers[0]!.child.kill('SIGKILL')
  await redis.command('SCRIPT', 'FLUSH')
  await eventually(async () => expect(await completed()).toBeGreaterThan(300), { within: '30s' })
  workers[1]!.child.kill('SIGSTOP')
  await redis.command('SCRIPT', 'FLUSH')
  await eventually(async () => expect(await redis.command('HLEN', 'jobs:done')).toBe(1200), { within: '60s' })
  workers[1]!.child.kill('SIGCONT')
  const codes = await Promise.all(workers.slice(1).map(async ({ exit }) => (await exit)[0] as number))

  expect(codes).toEqual([0, 0, 0])
  expect(await completed()).toBe(1200)
  const results = (await redis.command('HVALS', 'jobs:done')) as string[]
  expect(new Set(results).size).toBe(1200)
  expect(await redis.command('GET', 'jobs:last-id')).toBe('1200')
  expect(
    await redis.command(
      'EXISTS',
      'jobs:waiting',
      'jobs:in-progress',
      'jobs:holders',
      'jobs:deadlines',
      'jobs:attempts',
    ),
  ).toBe(0)
})
