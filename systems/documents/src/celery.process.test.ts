import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Queue, Worker } from 'bullmq'
import { expectedType, matcher, usage } from '@keyspec/inspect'
import { eventually, startRedis, type TemporaryRedis } from 'keyspec/testing'
import { expect, onTestFinished, test } from 'vitest'
import { openDocuments } from './keyspace.ts'
import { documents } from './schema.ts'

// Debian's own, where there is one: its packages are not for a Python that stands before it on the PATH.
const python = ['/usr/bin/python3', 'python3'].find(
  (command) => spawnSync(command, ['-c', 'import celery'], { stdio: 'ignore' }).status === 0,
)!

test('a Celery worker with the settings that are recommended leaves no key that is unknown', async () => {
  const { redis, folder, worker, ask } = await world()
  const { opened, jobDone } = await bullmqBeside(redis)
  await worker.ready
  await ask(`
    add.delay(1, 2)
    fail.delay()
    wait.delay('done')
    add.apply_async((1, 2), countdown=600)
    add.apply_async((1, 2), queue='entity')
    add.apply_async((1, 2), queue='entity', priority=5)
    chord([add.s(1, 2), wait.s('done')])(total.s())
    # One who asks the workers something, and is gone when they answer.
    app.control.mailbox._collect = lambda *_, **__: os._exit(0)
    app.control.ping()`)
  // Two at work, of which one is part of the chord, and one that is not due yet.
  await eventually(async () => expect(await redis.command('HLEN', 'broker:unacked')).toBe(3), within)
  await eventually(async () => {
    const entries = [...(await known(redis))]
    // A job of BullMQ is at work in a queue of the same name, whose keys its own tests look at.
    const [bullmq, celery] = [true, false].map((is) =>
      entries.filter(([key]) => key.startsWith('broker:entity:') === is),
    )
    expect(bullmq).toContainEqual(['broker:entity:1:lock', 'string'])
    expect(new Map(celery)).toEqual(inWork)
  }, within)
  for (const { owned, keys } of await usage(documents, opened.connection)) {
    if (owned === undefined) expect(keys).toBe(0)
  }

  await writeFile(join(folder, 'done'), '')
  await jobDone()
  await eventually(async () => expect(await redis.command('HLEN', 'broker:unacked')).toBe(1), within)
  await eventually(
    async () => expect(await results(redis)).toEqual(['FAILURE', ...Array(5).fill('SUCCESS')]),
    within,
  )
  await worker.stop()
  // What was not yet due is given back to its queue.
  expect(await redis.command('LLEN', 'broker:default')).toBe(1)
  await known(redis)
}, 120_000)

const within = { within: '60s' } as const

/** What Celery keeps while tasks wait and are at work; ids as `#`. */
const inWork = new Map([
  ['broker:_kombu.binding.celery.pidbox', 'set'],
  ['broker:_kombu.binding.celeryev', 'set'],
  ['broker:_kombu.binding.default', 'set'],
  ['broker:_kombu.binding.entity', 'set'],
  ['broker:_kombu.binding.ocr', 'set'],
  ['broker:_kombu.binding.reply.celery.pidbox', 'set'],
  ['broker:#.reply.celery.pidbox', 'list'],
  ['broker:entity', 'list'],
  ['broker:entity\u0006\u00163', 'list'],
  ['broker:unacked', 'hash'],
  ['broker:unacked_index', 'zset'],
  ['results:celery-task-meta-#', 'string'],
  ['results:celery-taskset-meta-#.j', 'zset'],
  ['results:celery-taskset-meta-#.s', 'string'],
])

/** All keys by their types, each of which must be known and of the type that it is declared with. */
async function known(redis: TemporaryRedis): Promise<Map<string, string>> {
  const { match } = matcher(documents)
  const types = new Map<string, string>()
  for (const key of await names(redis)) {
    const type = (await redis.command('TYPE', key)) as string
    // One that ended between the two questions.
    if (type === 'none') continue
    const owned = match(key)
    expect([key, owned && expectedType(owned, key)]).toEqual([key, type])
    types.set(key.replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/, '#'), type)
  }
  return types
}

async function results(redis: TemporaryRedis): Promise<string[]> {
  const keys = (await names(redis)).filter((key) => key.startsWith('results:celery-task-meta-'))
  const found = await Promise.all(keys.map((key) => redis.command('GET', key)))
  return found.map((text) => (JSON.parse(text as string) as { status: string }).status).toSorted()
}

async function names(redis: TemporaryRedis): Promise<string[]> {
  const [, found] = (await redis.command('SCAN', '0', 'COUNT', '10000')) as [string, string[]]
  return found
}

/** A job of BullMQ at work in the queue `entity`, until `jobDone` is called. */
async function bullmqBeside(redis: TemporaryRedis) {
  const opened = await openDocuments(redis.url)
  const options = { prefix: 'broker' }
  const queue = new Queue('entity', { ...options, connection: opened.client() })
  let end!: () => void
  const ended = new Promise<void>((resolve) => (end = resolve))
  const worker = new Worker('entity', () => ended, { ...options, connection: opened.client() })
  onTestFinished(async () => {
    end()
    await worker.close()
    await queue.close()
    opened.close()
  })
  await queue.add('job', {})
  await once(worker, 'active')
  return {
    opened,
    async jobDone() {
      end()
      await once(worker, 'completed')
    },
  }
}

/** A Redis, and a Celery app whose settings are those of the README, run by Python. */
async function world() {
  const redis = await startRedis({ port: 'any' })
  const folder = await mkdtemp(join(tmpdir(), 'celery-'))
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  const [settings, backend] = [...readme.matchAll(/^```python\n(.*?)^```/gms)].map(([, lines]) => lines!)
  await writeFile(
    join(folder, 'tasks.py'),
    `
import os, time
from celery import Celery, chord
url = '${redis.url}'
${backend}
# Those that know the setting need no class.
backend = url if hasattr(RedisBackend, 'global_keyprefix') else f'tasks.PrefixedResults+{url}'
app = Celery('tasks', broker=url, backend=backend)
${settings}
@app.task
def add(a, b): return a + b
@app.task
def total(xs): return len(xs)
@app.task
def fail(): raise ValueError('as it should')
@app.task(acks_late=True)
def wait(path):
    while not os.path.exists(path): time.sleep(0.05)
`,
  )
  const start = (...words: string[]) =>
    spawn(python, words, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  const words = ['--queues', 'default,ocr', '--pool', 'threads', '--concurrency', '4', '--task-events']
  const child = start('-m', 'celery', '-A', 'tasks', 'worker', '--loglevel', 'info', ...words)
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
    await redis.stop()
    await rm(folder, { recursive: true })
  })
  return {
    redis,
    folder,
    worker: {
      ready: eventually(() => expect(said).toMatch(/ ready\.$/m), within),
      async stop() {
        child.kill('SIGTERM')
        await exited
      },
    },
    async ask(lines: string) {
      const script = `import os\nfrom tasks import *\n${lines.replaceAll(/^ +/gm, '')}`
      const asked = start('-c', script)
      let complaint = ''
      asked.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
      const [code] = (await once(asked, 'close')) as [number | null]
      expect([code, complaint]).toEqual([0, ''])
    },
  }
}
