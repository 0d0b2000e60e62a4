import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually, startRedis, type TemporaryRedis } from 'keyspec/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Proxy, startProxy } from '../../../test-support/proxy.ts'
import { jsonPath } from './storage/layout.ts'
import { type StandIn, startStandIn } from './upstream/stand-in.ts'

const size = { dockets: 6, documents: 20, comments: 60, attachments: 24 }

/** A program of the system as it is built, with its first word to us. */
async function start(file: string, env: Record<string, string>, ...words: string[]) {
  const child = fork(fileURLToPath(new URL(`../program/${file}`, import.meta.url)), words, {
    env: { PATH: process.env['PATH'], ...env } as unknown as NodeJS.ProcessEnv,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const exit = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exit
  })
  const first = (await Promise.race([once(child, 'message'), exit])) as [{ url?: string } | number]
  if (typeof first[0] !== 'object' || first[0] === null)
    throw new Error(`${file} ended with ${String(first[0])}`)
  return { child, exit, url: first[0].url }
}

interface World {
  readonly redis: TemporaryRedis
  readonly proxy: Proxy
  readonly standIn: StandIn
  readonly mirror: string
  readonly server: ChildProcess
  readonly finished: () => Promise<number>
  readonly newServer: () => Promise<ChildProcess>
  readonly newClient: () => Promise<ChildProcess>
  readonly generator: () => ReturnType<typeof start>
}

/** Redis that keeps what it was told, a proxy before it, a stand-in of regulations.gov, and a work server. */
async function world(): Promise<World> {
  const redis = await startRedis({ config: { appendonly: 'yes', appendfsync: 'always' } })
  const proxy = await startProxy(redis)
  const standIn = await startStandIn(size)
  const mirror = await mkdtemp(join(tmpdir(), 'mirror-'))
  onTestFinished(async () => {
    await standIn.close()
    await proxy.stop()
    await redis.stop()
    await rm(mirror, { recursive: true })
  })
  const upstream = { REGULATIONS_API_KEY: 'DEMO_KEY', REGULATIONS_BASE_URL: standIn.url }
  const env = { REDIS_URL: proxy.url, MIRROR_DIR: mirror, JOB_LEASE: '3s' }
  const server = await start('server/server-main.js', env)
  const url = server.url!
  return {
    redis,
    proxy,
    standIn,
    mirror,
    server: server.child,
    async finished() {
      const [done, invalid] = await Promise.all([
        redis.command(
          'MGET',
          ...['dockets', 'documents', 'comments', 'attachments'].map((kind) => `num_${kind}_done`),
        ),
        redis.command('HLEN', 'invalid_jobs'),
      ])
      return (done as (string | null)[]).reduce((sum, count) => sum + Number(count), invalid as number)
    },
    newServer: async () => (await start('server/server-main.js', { ...env, PORT: new URL(url).port })).child,
    newClient: async () =>
      (await start('client/client-main.js', { ...upstream, WORK_SERVER_URL: url })).child,
    generator: () =>
      start(
        'generator/generator-main.js',
        { ...upstream, REDIS_URL: proxy.url, GENERATOR_PAGE_SIZE: '10' },
        '--once',
      ),
  }
}

/** Every record once: in the counters, in the hashes and lists they count, and on disk. */
async function expectAll({ redis, standIn, mirror }: World): Promise<void> {
  await eventually(
    async () => {
      expect(await redis.command('LLEN', 'jobs_waiting_queue')).toBe(0)
      expect(await redis.command('HLEN', 'jobs_in_progress')).toBe(0)
    },
    { within: '90s' },
  )
  const records = standIn.records.filter(({ isMissing }) => !isMissing)
  const missing = standIn.records.filter(({ isMissing }) => isMissing)
  const of = (kind: string) => String(records.filter((record) => record.kind === kind).length)
  const files = records.flatMap((record) => record.files)
  const pdfs = files.filter(({ name }) => name.endsWith('.pdf'))
  expect(
    await redis.command(
      'MGET',
      ...['dockets', 'documents', 'comments', 'attachments', 'pdf_attachments'].map(
        (kind) => `num_${kind}_done`,
      ),
      ...['dockets', 'documents', 'comments', 'attachments'].map((kind) => `num_jobs_${kind}_waiting`),
    ),
  ).toEqual([
    of('dockets'),
    of('documents'),
    of('comments'),
    String(files.length),
    String(pdfs.length),
    '0',
    '0',
    '0',
    '0',
  ])
  const invalid = (await redis.command('HVALS', 'invalid_jobs')) as string[]
  expect(invalid.map((url) => missing.find(({ id }) => url.includes(id))?.id)).toEqual(
    missing.map(({ id }) => id),
  )
  expect(await redis.command('HLEN', 'jobs_done')).toBe(records.length + files.length)
  expect(Number(await redis.command('GET', 'last_job_id'))).toBeGreaterThanOrEqual(
    records.length + files.length + 1,
  )
  for (const key of ['jobs_in_progress', 'client_jobs', 'jobs_deadlines', 'jobs_attempts']) {
    expect(await redis.command('EXISTS', key), key).toBe(0)
  }
  const stored = await readdir(mirror, { recursive: true })
  for (const record of records) expect(stored).toContain(jsonPath(record))
  // What a killed server left half written lies apart from the records.
  const apart = stored.filter((path) => !path.startsWith('.incoming'))
  expect(apart.filter((path) => /(?:^|\/)\.|\.tmp$/.test(path))).toEqual([])
}

test('no job is lost and none counted twice, whatever is killed or cut in the middle', async () => {
  const all = await world()
  const { redis, proxy, finished } = all
  const generator = await all.generator()
  const clients = await Promise.all([all.newClient(), all.newClient(), all.newClient()])
  const past = (count: number) =>
    eventually(async () => expect(await finished()).toBeGreaterThanOrEqual(count), { within: '60s' })

  await past(5)
  clients[0].kill('SIGKILL')
  await past(15)
  proxy.cut()
  await past(25)
  all.server.kill('SIGKILL')
  await once(all.server, 'exit')
  await all.newServer()
  await past(35)
  // Answers that are lost after the work was done.
  proxy.stall('replies')
  await eventually(() => expect(proxy.connections).toBeGreaterThan(0))
  proxy.cut()
  await proxy.restore()
  await past(45)
  await redis.restart()
  await past(50)
  clients[1].kill('SIGSTOP')
  await all.newClient()
  await past(70)
  clients[1].kill('SIGCONT')

  expect(await generator.exit).toEqual([0, null])
  await expectAll(all)
})

test('a generator that is killed goes on from its watermark', async () => {
  const all = await world()
  const { child, exit } = await all.generator()
  await eventually(
    async () => expect(await all.redis.command('LLEN', 'jobs_waiting_queue')).toBeGreaterThan(20),
    { within: '30s' },
  )
  child.kill('SIGKILL')
  await exit
  expect(await (await all.generator()).exit).toEqual([0, null])
  const waiting = (await all.redis.command('LRANGE', 'jobs_waiting_queue', 0, -1)) as string[]
  const ids = waiting.map((job) => (JSON.parse(job) as { reg_id: string }).reg_id)
  expect(ids.toSorted()).toEqual(all.standIn.records.map(({ id }) => id).toSorted())
})

test('a client that is told to end gives its job back', async () => {
  const all = await world()
  expect(await (await all.generator()).exit).toEqual([0, null])
  all.standIn.fail({ fault: 'silent', times: 1 })
  const client = await all.newClient()
  await eventually(async () => expect(await all.redis.command('HLEN', 'jobs_in_progress')).toBe(1), {
    within: '20s',
  })
  const before = await all.finished()
  client.kill('SIGINT')
  expect(await once(client, 'exit')).toEqual([0, null])
  expect(await all.redis.command('EXISTS', 'jobs_in_progress', 'client_jobs', 'jobs_attempts')).toBe(0)
  expect(await all.redis.command('LLEN', 'jobs_waiting_queue')).toBe(86 - before)
})

describe('the main job', () => {
  const main = (words: string[], env: Record<string, string> = {}) => {
    const child = fork(fileURLToPath(new URL('../program/main.js', import.meta.url)), words, {
      env: { PATH: process.env['PATH'], ...env } as unknown as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    let text = ''
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (text += String(chunk)))
    const exit = once(child, 'exit')
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await exit
    })
    return { child, exit, said: () => text }
  }
  // Each client costs a start.
  const small = [
    '--clients',
    '1',
    '--dockets',
    '2',
    '--documents',
    '5',
    '--comments',
    '9',
    '--attachments',
    '4',
  ]

  test('keeps running without --once, serves its page, and ends when told', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'm-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const { child, exit, said } = main(small, { TMPDIR: folder })
    const url = await eventually(() => /http:\/\/127.0.0.1:\d+\/data/.exec(said())![0], { within: '60s' })
    const data = async () => (await (await fetch(url)).json()) as Record<string, number>
    await eventually(async () => expect(await data()).toMatchObject({ jobs_done: 19, jobs_waiting: 0 }), {
      within: '60s',
    })
    child.kill('SIGTERM')
    expect(await exit, said()).toEqual([0, null])
    expect(await readdir(folder)).toEqual([])
    await expect(fetch(url)).rejects.toThrow()
  })

  test('ends with 1 and a clear word when the API key is refused', async () => {
    const standIn = await startStandIn({ ...size, apiKeys: ['another'] })
    onTestFinished(() => standIn.close())
    const folder = await mkdtemp(join(tmpdir(), 'm-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const env = { REGULATIONS_API_KEY: 'wrong', REGULATIONS_BASE_URL: standIn.url, MIRRULATIONS_DATA: folder }
    const { exit, said } = main(['--once', '--clients', '1'], env)
    expect(await exit, said()).toEqual([1, null])
    expect(said()).toContain('check REGULATIONS_API_KEY')
    expect(said()).not.toContain('wrong')
  })

  test('ends by itself when the backlog is done, shows what is in Redis, and goes on where it ended', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'm-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const env = { MIRRULATIONS_DATA: join(folder, 'data'), TMPDIR: folder }
    const { exit, said } = main(['--once', ...small], env)
    expect(await exit, said()).toEqual([0, null])
    expect(said()).toContain('a stand-in for regulations.gov')
    expect(said()).toMatch(/^jobs +jobs_waiting_queue +list +forever +0 +0$/m)
    expect(said()).toMatch(/^docketsSeen +dockets_last_timestamp +string +forever +1 +\d+$/m)
    expect(said()).toMatch(/^num_comments_done +8$/m)
    expect(said()).toMatch(/^num_attachments_done +4$/m)
    expect(said()).toMatch(/^mirrulations_bucket_size +[1-9]\d*$/m)
    // eslint-disable-next-line no-control-regex -- whether it is plain is the question
    expect(said()).not.toMatch(/\u001B/)
    const again = main(['--once', ...small], env)
    expect(await again.exit, again.said()).toEqual([0, null])
    // Its data are all that is left.
    const where = join(folder, 'data', 'mirror')
    for (const each of [said(), again.said()]) expect(each).toContain(`19 jobs done, 1 invalid, in ${where}.`)
    expect(await readdir(folder)).toEqual(['data'])
  })
})
