import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Compiled, compiledLibrary, type Program } from '../../../../../test-support/program.ts'
import { eventually, startRedis, type TemporaryRedis, unique } from '../../testing/index.ts'

let redis: TemporaryRedis
let library: Compiled
const programs: Program[] = []

beforeAll(async () => {
  library = compiledLibrary()
  redis = await startRedis()
})

afterEach(async () => {
  await Promise.all(programs.splice(0).map((program) => program.kill()))
})

afterAll(async () => {
  library[Symbol.dispose]()
  await redis.stop()
})

/** A process that takes the lock when it is told to, holds it until it is told again, and says how that ended. */
async function worker(prefix: string, ttl: string): Promise<Program> {
  const program = library.run(
    `
    const { keyspec: { open, lock }, connection } = await lean(given.socket)
    const schema = { lock: lock('lock:<key>', { ttl: given.ttl, fence: 'fence:<key>' }) }
    const key = open(schema, connection, { prefix: given.prefix }).lock({ key: 'a' })
    say('ready')
    await told()
    const ended = key.using(async (signal, { token, fence }) => {
      say({ token, fence })
      await told()
      return { aborted: signal.aborted }
    }, { wait: '1m' })
    say(await ended.then(({ value }) => value, ({ code }) => ({ code })))
    `,
    { prefix, ttl, socket: redis.socket },
  )
  programs.push(program)
  expect(await program.next()).toBe('ready')
  program.tell('go')
  return program
}

interface Holding {
  readonly token: string
  readonly fence: number
}

test('the lock of a process that was killed passes to exactly one of those who wait', async () => {
  const prefix = `${unique()}:`
  const dead = await worker(prefix, '3s')
  const before = (await dead.next()) as Holding
  const waiting = await Promise.all([worker(prefix, '3s'), worker(prefix, '3s'), worker(prefix, '3s')])
  await dead.kill()
  const holdings: Holding[] = []
  const note = (holding: unknown) => void holdings.push(holding as Holding)
  // Those who still wait at the end are killed, and say nothing.
  for (const program of waiting) program.next().then(note, () => {})
  await eventually(() => expect(holdings).not.toHaveLength(0), { within: '20s' })
  // Its new holder renews it, so the others go on waiting, past the end of its first lifetime.
  let renewals = 0
  let left = Infinity
  await eventually(
    async () => {
      const ttl = (await redis.command('PTTL', `${prefix}lock:a`)) as number
      if (ttl > left) renewals += 1
      left = ttl
      expect(renewals).toBe(4)
    },
    { within: '20s' },
  )
  expect(holdings).toHaveLength(1)
  expect(holdings[0]!.token).not.toBe(before.token)
  expect(holdings[0]!.fence).toBeGreaterThan(before.fence)
  expect(await redis.command('GET', `${prefix}lock:a`)).toBe(holdings[0]!.token)
})

test('a process that was stopped past its lease learns it, and leaves its successor’s lock alone', async () => {
  const prefix = `${unique()}:`
  // Long enough to be held at all by a process on a busy machine: it is over only because the process is stopped.
  const stopped = await worker(prefix, '3s')
  const before = (await stopped.next()) as Holding
  stopped.signal('SIGSTOP')
  const successor = await worker(prefix, '1h')
  const after = (await successor.next()) as Holding
  expect(after.fence).toBeGreaterThan(before.fence)
  stopped.tell('finish')
  stopped.signal('SIGCONT')
  expect(await stopped.next()).toEqual({ code: 'E_LEASE_LOST' })
  expect(await redis.command('GET', `${prefix}lock:a`)).toBe(after.token)
  successor.tell('finish')
  expect(await successor.next()).toEqual({ aborted: false })
  expect(await redis.command('EXISTS', `${prefix}lock:a`)).toBe(0)
})
