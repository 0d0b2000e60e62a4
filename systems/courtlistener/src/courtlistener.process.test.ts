import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually, startRedis, type TemporaryRedis } from 'keyspec/testing'
import { expect, onTestFinished, test } from 'vitest'
import { startProxy } from '../../../test-support/proxy.ts'
import { type StandIn, type StandInOptions, startStandIn } from './upstream/stand-in/stand-in.ts'

// Each starts some processes, on a machine that may have much else to do.
const patience = { timeout: 300_000 }

interface World {
  readonly redis: TemporaryRedis
  readonly standIn: StandIn
  readonly data: string
  readonly start: (env?: Record<string, string>, ...words: string[]) => Program
  /** Runs without `--once`: it waits for the next hour. */
  readonly stay: (env: Record<string, string>) => Program
  /** The dockets that are stored. */
  readonly stored: () => Promise<string[]>
  readonly run: () => Promise<Record<string, string>>
}

interface Program {
  readonly child: ChildProcess
  readonly exit: Promise<unknown[]>
  said(): string
}

async function world(options: StandInOptions): Promise<World> {
  const redis = await startRedis()
  const standIn = await startStandIn(options)
  const data = await mkdtemp(join(tmpdir(), 'courtlistener-'))
  onTestFinished(async () => {
    await standIn.close()
    await redis.stop()
    await rm(data, { recursive: true, force: true })
  })
  const folder = join(data, 'dockets')
  const start = (env: Record<string, string>, words: readonly string[]) => {
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL('../program/main.js', import.meta.url)), ...words],
      {
        env: {
          PATH: process.env['PATH'],
          COURTLISTENER_TOKEN: 'stand-in-token',
          COURTLISTENER_BASE_URL: standIn.url,
          COURTLISTENER_DATA: data,
          COURTLISTENER_BACKOFF_MS: '10',
          // Several, but each costs a start.
          COURTLISTENER_WORKERS: '2',
          REDIS_URL: redis.url,
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    const exit = once(child, 'close')
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await exit
    })
    return { child, exit, said: () => text }
  }
  return {
    redis,
    standIn,
    data,
    start: (env = {}, ...words) => start(env, ['--once', ...words]),
    stay: (env) => start(env, []),
    async stored() {
      const names = await readdir(folder).catch(() => [] as string[])
      return names.filter((name) => /^\d+\.json$/.test(name)).map((name) => name.slice(0, -5))
    },
    async run() {
      const [key] = await keysLike(redis, 'courtlistener:pipeline:*')
      const flat = key === undefined ? [] : ((await redis.command('HGETALL', key)) as string[])
      return Object.fromEntries(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]!]] : [])))
    },
  }
}

/** How often each docket was asked for, from a request on. */
function asked({ standIn }: World, from = 0): Map<string, number> {
  const counts = new Map<string, number>()
  for (const path of standIn.requests.slice(from)) {
    const id = /\/dockets\/(\d+)\/$/.exec(path)?.[1]
    if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return counts
}

const used = async ({ redis }: World) => {
  const counters = await Promise.all(
    ['rate_limit', 'counter'].map((name) => keysLike(redis, `courtlistener:${name}:*`)),
  )
  return Promise.all(counters.flat().map(async (name) => Number(await redis.command('GET', name))))
}

async function keysLike(redis: TemporaryRedis, pattern: string): Promise<string[]> {
  const [, names] = (await redis.command('SCAN', 0, 'MATCH', pattern, 'COUNT', 10_000)) as [string, string[]]
  return names
}

test(
  'a start without Redis waits for it, then fetches every docket once and counts each call in both keys',
  patience,
  async () => {
    const all = await world({ dockets: 30 })
    await all.redis.kill()
    const { exit, said } = all.start()
    await eventually(() => expect(said()).toMatch(/Redis: /), { within: '120s' })
    expect(all.standIn.requests).toEqual([])
    await all.redis.restart()
    expect(await exit, said()).toEqual([0, null])
    const ids = all.standIn.dockets.map(({ id }) => String(id))
    expect((await all.stored()).toSorted()).toEqual(ids.toSorted())
    expect([...asked(all).values()].every((times) => times === 1)).toBe(true)
    // Two pages of the list, and the dockets.
    expect(await used(all)).toEqual([32, 32])
    expect(await all.run()).toMatchObject({ status: 'completed', api_calls_this_hour: '32' })
    expect(said()).toContain('32 admitted, 0 rejected')
    expect(said()).toContain('30 listed, 30 fetched, 30 stored, 0 failed, 0 recovered, 0 left')
    expect(said()).toMatch(/task +process_docket: 30, min \d+ ms, median \d+ ms, p95 \d+ ms/)
    expect(said()).toMatch(/courtlistener:task_start:<dagRunId\*>:<taskId> +string +25h/)
  },
)

test(
  'after kill -9 no docket that is stored is fetched again, and the run goes on as the same',
  patience,
  async () => {
    const all = await world({ dockets: 60 })
    const first = all.start()
    await eventually(async () => expect((await all.stored()).length).toBeGreaterThan(15), { within: '120s' })
    first.child.kill('SIGKILL')
    await first.exit
    const stored = await all.stored()
    expect(stored.length).toBeLessThan(60)
    const before = all.standIn.requests.length
    const { dag_run_id } = await all.run()

    const second = all.start()
    expect(await second.exit, second.said()).toEqual([0, null])
    expect(await all.stored()).toHaveLength(60)
    expect(stored.filter((id) => asked(all, before).has(id))).toEqual([])
    expect(second.said()).toContain(`run ${dag_run_id} goes on, processing`)
    const { status, dockets_processed } = await all.run()
    expect(status).toBe('completed')
    expect(JSON.parse(dockets_processed!)).toHaveLength(60)
  },
)

test(
  'a used-up quota is never exceeded by several workers, and the next run goes on with what is left',
  patience,
  async () => {
    const all = await world({ dockets: 40 })
    const few = { CALL_LIMIT_PER_HOUR: '25', COURTLISTENER_SAFETY_BUFFER: '5' }
    const { exit, said } = all.start(few, '--workers', '3')
    expect(await exit, said()).toEqual([0, null])
    expect(all.standIn.requests.length).toBeLessThanOrEqual(20)
    expect(await used(all)).toEqual([20, 20])
    expect(await all.run()).toMatchObject({ status: 'processing' })
    expect(said()).toMatch(/20 admitted, [1-9]\d* rejected/)
    expect(said()).toContain('The next start goes on with what is left.')
    const before = await all.stored()
    const from = all.standIn.requests.length
    const second = all.start()
    expect(await second.exit, second.said()).toEqual([0, null])
    expect(await all.stored()).toHaveLength(40)
    expect(before.filter((id) => asked(all, from).has(id))).toEqual([])
  },
)

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends it while its workers wait for the next hour, and what was stored is told whole',
  patience,
  async (signal) => {
    const all = await world({ dockets: 40 })
    const { child, exit, said } = all.stay({ CALL_LIMIT_PER_HOUR: '15', COURTLISTENER_SAFETY_BUFFER: '5' })
    // Both of them, or one could still be at work.
    await eventually(() => expect(said().match(/worker \d: the quota is used up/g)).toHaveLength(2), {
      within: '120s',
    })
    child.kill(signal)
    await exit
    const { status, dockets_processed } = await all.run()
    expect(status).toBe('processing')
    expect((JSON.parse(dockets_processed!) as string[]).toSorted()).toEqual((await all.stored()).toSorted())
    expect(await all.stored()).not.toEqual([])
  },
)

test(
  'an upstream that refuses, fails, talks nonsense or hangs costs retries, and what fails for good is retried once more',
  patience,
  async () => {
    const all = await world({ dockets: 12 })
    const [a, b, c] = all.standIn.dockets.map(({ id }) => `/dockets/${id}/`) as [string, string, string]
    all.standIn.fail({ fault: 'limited', times: 2, path: a, retryAfterSeconds: 0.01 })
    all.standIn.fail({ fault: 'garbage', path: b })
    all.standIn.fail({ fault: 'silent', path: b })
    // Beyond what one task tries, within what its retry does; and one that never comes.
    all.standIn.fail({ fault: 'unavailable', times: 3, path: c })
    const lost = `/dockets/${all.standIn.dockets[3]!.id}/`
    all.standIn.fail({ fault: 'broken', times: 50, path: lost })
    const { exit, said } = all.start({ COURTLISTENER_ATTEMPTS: '3', COURTLISTENER_TIMEOUT_MS: '6000' })
    expect(await exit, said()).toEqual([0, null])
    expect(said()).toContain('12 listed, 10 fetched, 11 stored, 1 failed, 1 recovered, 0 left')
    const [list] = (await keysLike(all.redis, 'courtlistener:failed:*')) as [string]
    expect(await all.redis.command('LRANGE', list, 0, -1)).toEqual([String(all.standIn.dockets[3]!.id)])
    expect(asked(all).get(String(all.standIn.dockets[3]!.id))).toBe(6)
    // Every try was charged.
    expect(await used(all)).toEqual([all.standIn.requests.length, all.standIn.requests.length])
  },
)

test(
  'a token that the API refuses ends the run as failed, and the words say what to check',
  patience,
  async () => {
    const all = await world({ dockets: 3 })
    const { exit, said } = all.start({ COURTLISTENER_TOKEN: 'another-token' })
    expect(await exit, said()).toEqual([1, null])
    expect(said()).toContain('check COURTLISTENER_TOKEN')
    expect(said()).not.toContain('another-token')
    expect(await all.run()).toMatchObject({ status: 'failed' })
  },
)

test(
  'a worker that is killed is started again; without Redis they go on with their share, and it is told all when it is back',
  patience,
  async () => {
    const all = await world({ dockets: 60 })
    const proxy = await startProxy(all.redis)
    onTestFinished(() => proxy.stop())
    const { child, exit, said } = all.start({ REDIS_URL: proxy.url })
    const stored = (more: number) =>
      eventually(async () => expect((await all.stored()).length).toBeGreaterThan(more), { within: '120s' })
    await stored(5)
    const workers = await childrenOf(child.pid!)
    expect(workers).toHaveLength(2)
    process.kill(workers[0]!, 'SIGKILL')
    await eventually(() => expect(said()).toMatch(/worker \d died; it is started again/), { within: '120s' })
    proxy.refuse()
    proxy.cut()
    await stored(Math.min((await all.stored()).length + 3, 59))
    await proxy.restore()
    expect(await exit, said()).toEqual([0, null])
    expect(await all.stored()).toHaveLength(60)
    const [finished] = (await keysLike(all.redis, 'courtlistener:finished:*')) as [string]
    expect(await all.redis.command('SCARD', finished)).toBe(60)
    for (const count of await used(all)) expect(count).toBeGreaterThanOrEqual(all.standIn.requests.length)
  },
)

async function childrenOf(pid: number): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const [stat, words] = await Promise.all(
      ['stat', 'cmdline'].map((file) => readFile(`/proc/${name}/${file}`, 'utf8').catch(() => '')),
    )
    const parent = Number(stat!.slice(stat!.lastIndexOf(')') + 2).split(' ')[1])
    if (parent === pid && words!.includes('worker-main.js')) found.push(Number(name))
  }
  return found
}
