import { createHash } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Connection, Reply } from '../../connection/connection.ts'
import { LeaseLostError, UnknownOutcomeError } from '../../errors.ts'
import { open } from '../../keyspace.ts'
import type { Lease } from './lease.ts'
import { lock, type LockOptions } from './lock.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

type Verb = 'acquire' | 'extend' | 'release'

/** A lock over a connection that notes what is sent and when, by the clock of the test, and answers as it is told. */
function recorded(
  ttl: LockOptions<string, {}, undefined>['ttl'],
  answer: (verb: Verb) => Reply | Promise<Reply>,
) {
  const sent: { readonly verb: Verb; readonly atMs: number }[] = []
  const texts = new Map<string, string>()
  const begunAt = performance.now()
  const connection: Connection = {
    client: 'recording',
    cluster: false,
    masters: async () => [connection],
    async send([command, script]) {
      if (command === 'EVAL') texts.set(createHash('sha1').update(script!).digest('hex'), String(script))
      const verb = verbOf(command === 'EVAL' ? String(script) : texts.get(String(script))!)
      sent.push({ verb, atMs: performance.now() - begunAt })
      return answer(verb)
    },
  }
  return { sent, key: open({ lock: lock('lock:<key>', { ttl }) }, connection).lock({ key: 'a' }) }
}

function verbOf(text: string): Verb {
  if (text.includes("redis.call('SET', key, token")) return 'acquire'
  return text.includes("redis.call('DEL', key)") ? 'release' : 'extend'
}

const always = (verb: Verb) => (verb === 'acquire' ? [1, 0] : 1)
const lost = () => Promise.reject(new UnknownOutcomeError('the connection was lost'))

test('a lock of 30 days is kept for longer than that, renewed every ten days', async () => {
  const { sent, key } = recorded('30d', always)
  const used = key.using(
    (signal) => new Promise((resolve) => setTimeout(() => resolve(signal.aborted), DAY_MS * 20)),
  )
  await vi.advanceTimersByTimeAsync(20 * DAY_MS)
  expect(await used).toEqual({ acquired: true, value: false })
  expect(sent.map(({ verb, atMs }) => [verb, atMs / DAY_MS])).toEqual([
    ['acquire', 0],
    ['extend', 10],
    ['release', 20],
  ])
  expect(vi.getTimerCount()).toBe(0)
})

test('a wait of 30 days asks no more often than every 25 ms', async () => {
  const { sent, key } = recorded('10s', () => [0, 5000])
  const ended = vi.fn<() => void>()
  void key.acquire({ wait: '30d' }).then(ended)
  await vi.advanceTimersByTimeAsync(5000)
  // About forty while the pauses grow from 5 ms to 50.
  expect(sent.length).toBeGreaterThan(50)
  expect(sent.length).toBeLessThan(5000 / 25 + 40)
  expect(ended).not.toHaveBeenCalled()
})

test('a wait leaves no timer behind', async () => {
  let asked = 0
  const { key } = recorded('10s', () => ((asked += 1) < 3 ? [0, 5000] : [1, 0]))
  const acquiring = key.acquire({ wait: '30d' })
  await vi.advanceTimersByTimeAsync(100)
  expect(await acquiring).toMatchObject({ acquired: true })
  expect(vi.getTimerCount()).toBe(0)
})

test('the lease counts from the question: an answer that took 4 s leaves 6 of 10', async () => {
  const { key } = recorded('10s', (verb) => late(4000, always(verb)))
  const acquiring = key.acquire()
  await vi.advanceTimersByTimeAsync(4000)
  const held = await acquiring
  if (!held.acquired) throw new Error('the lock was not acquired')
  expect(held.leftMs).toBe(6000)
  const extending = held.extend('1h')
  await vi.advanceTimersByTimeAsync(4000)
  expect(await extending).toBe(true)
  expect(held.leftMs).toBe(3_596_000)
})

test('work is told at the end of its lease, counted from the last question that was answered', async () => {
  // The first renewal takes 1 s; no later one is answered.
  let renewals = 0
  const { sent, key } = recorded('9s', (verb) => {
    if (verb !== 'extend') return always(verb)
    return (renewals += 1) === 1 ? late(1000, 1) : new Promise(() => {})
  })
  const aborted: number[] = []
  const begunAt = performance.now()
  const using = key.using(
    (signal) =>
      new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => {
          aborted.push(performance.now() - begunAt)
          resolve()
        }),
      ),
  )
  const failing = using.catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(MINUTE_MS)
  expect(await failing).toBeInstanceOf(LeaseLostError)
  expect(sent[1]).toEqual({ verb: 'extend', atMs: 3000 })
  expect(aborted).toEqual([12_000])
})

test('an extension whose answer is lost lasts no longer than what was known before', async () => {
  const { key } = recorded('10s', (verb) => (verb === 'extend' ? lost() : always(verb)))
  const held = await key.acquire()
  if (!held.acquired) throw new Error('the lock was not acquired')
  await expect(held.extend('1h')).rejects.toMatchObject({ code: 'E_UNKNOWN_OUTCOME' })
  expect(held.leftMs).toBe(10_000)
  await expect(held.extend('1s')).rejects.toMatchObject({ code: 'E_UNKNOWN_OUTCOME' })
  expect(held.leftMs).toBe(1000)
})

test('an extension that is answered after the release makes the lease last no longer', async () => {
  const { key } = recorded('10s', (verb) => (verb === 'extend' ? late(500, 1) : always(verb)))
  const held = await key.acquire()
  if (!held.acquired) throw new Error('the lock was not acquired')
  const extending = held.extend('1h')
  await held.release()
  await vi.advanceTimersByTimeAsync(500)
  await extending
  expect(held.leftMs).toBe(0)
})

test('renewals that are lost are tried again ten times in a lease, and the work is told when it is over', async () => {
  const { sent, key } = recorded('10s', (verb) => (verb === 'extend' ? lost() : always(verb)))
  const using = key.using((signal) => new Promise((resolve) => signal.addEventListener('abort', resolve)))
  const failing = using.catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(MINUTE_MS)
  expect(await failing).toBeInstanceOf(LeaseLostError)
  const renewals = sent.filter(({ verb }) => verb === 'extend').map(({ atMs }) => atMs)
  expect(renewals[0]).toBeCloseTo(3333, -1)
  expect(renewals).toHaveLength(7)
  expect(sent.at(-1)).toMatchObject({ verb: 'release', atMs: 10_000 })
})

test('a renewal that says that the lock is lost aborts the work at once, with its cause where it was refused', async () => {
  const refusals: [Reply | Error, unknown][] = [
    [0, undefined],
    [new TypeError('not to be renewed'), expect.any(TypeError)],
  ]
  for (const [refusal, cause] of refusals) {
    const { sent, key } = recorded('30d', (verb) => {
      if (verb !== 'extend') return always(verb)
      return refusal instanceof Error ? Promise.reject(refusal) : refusal
    })
    const using = key.using(async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      throw signal.reason
    })
    const failing = using.catch((error: unknown) => error as Error)
    await vi.advanceTimersByTimeAsync(10 * DAY_MS)
    const error = await failing
    expect(error).toBeInstanceOf(LeaseLostError)
    expect((error as LeaseLostError).cause).toEqual(cause)
    await vi.advanceTimersByTimeAsync(60 * DAY_MS)
    expect(sent.map(({ verb }) => verb)).toEqual(['acquire', 'extend', 'release'])
    expect(vi.getTimerCount()).toBe(0)
  }
})

test('work that extends its lease by itself is told at the end of that lease', async () => {
  for (const [duration, endsMs] of [
    ['30s', 12_000],
    ['2s', 2000],
  ] as const) {
    let extensions = 0
    const { key } = recorded('9s', (verb) => {
      if (verb !== 'extend') return always(verb)
      return (extensions += 1) === 1 ? 1 : lost()
    })
    const begunAt = performance.now()
    const aborted: number[] = []
    const using = key.using(async (signal, held) => {
      await held.extend(duration)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      aborted.push(performance.now() - begunAt)
    })
    const failing = using.catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    expect(await failing).toBeInstanceOf(LeaseLostError)
    // A renewal that is lost may have been applied: the earlier end counts.
    expect(aborted).toEqual([endsMs])
  }
})

test('work does not begin under a lease that is over when its answer comes', async () => {
  const { sent, key } = recorded('10s', (verb) => (verb === 'acquire' ? late(11_000, [1, 0]) : 0))
  const work = vi.fn<() => void>()
  const failing = key.using(work).catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(MINUTE_MS)
  expect(await failing).toBeInstanceOf(LeaseLostError)
  expect(work).not.toHaveBeenCalled()
  expect(sent.map(({ verb }) => verb)).toEqual(['acquire', 'release'])
})

test('work that is told by its own extension that the lock is lost is aborted at once', async () => {
  const { key } = recorded('9s', (verb) => (verb === 'extend' ? 0 : always(verb)))
  const using = key.using(async (signal, held) => {
    expect(await held.extend()).toBe(false)
    expect(signal.aborted).toBe(true)
  })
  await expect(using).rejects.toBeInstanceOf(LeaseLostError)
})

test('a release whose answer is lost: work within its lease is done, work past it is not said to be', async () => {
  const { key } = recorded('10s', (verb) => (verb === 'release' ? lost() : always(verb)))
  expect(await key.using(() => 'done')).toEqual({ acquired: true, value: 'done' })
  const held = await key.acquire()
  if (!held.acquired) throw new Error('the lock was not acquired')
  await expect(held.release()).rejects.toMatchObject({ code: 'E_UNKNOWN_OUTCOME' })
  expect(held.leftMs).toBe(0)

  const past = recorded('10s', (verb) => (verb === 'acquire' ? always(verb) : lost()))
  const using = past.key.using(() => {
    // A process that was stopped: its clock went on, its timers did not fire.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 11_000)
  })
  await expect(using).rejects.toBeInstanceOf(LeaseLostError)
})

test('work whose own release got no answer within the lease is done, and past it is not said to be', async () => {
  // Redis applied the first release, so the second one finds nothing.
  let releases = 0
  const { sent, key } = recorded('10s', (verb) => {
    if (verb !== 'release') return always(verb)
    releases += 1
    return releases % 2 === 1 ? lost() : 0
  })
  const work = (stoppedMs: number) => async (_: AbortSignal, held: Lease) => {
    const now = performance.now() + stoppedMs
    if (stoppedMs > 0) vi.spyOn(performance, 'now').mockReturnValue(now)
    await expect(held.release()).rejects.toMatchObject({ code: 'E_UNKNOWN_OUTCOME' })
    return 'done'
  }
  expect(await key.using(work(0))).toEqual({ acquired: true, value: 'done' })
  // The lock is given back once more: the first release may have been lost on its way.
  expect(sent.map(({ verb }) => verb)).toEqual(['acquire', 'release', 'release'])
  await expect(key.using(work(11_000))).rejects.toBeInstanceOf(LeaseLostError)
})

test('a try that was given up after an answer was lost gives back what it may have taken', async () => {
  let asked = 0
  const { sent, key } = recorded('10s', (verb) => {
    if (verb !== 'acquire') return always(verb)
    return (asked += 1) === 1 ? lost() : Promise.reject(new TypeError('not to be asked'))
  })
  const failing = key.acquire({ wait: '1m' }).catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(1000)
  expect(await failing).toBeInstanceOf(TypeError)
  expect(sent.map(({ verb }) => verb)).toEqual(['acquire', 'acquire', 'release'])
})

async function late(ms: number, reply: Reply): Promise<Reply> {
  await new Promise((resolve) => setTimeout(resolve, ms))
  return reply
}
