import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { NotSentError } from '../../errors.ts'
import type { Connection } from '../connection.ts'
import type { Invalidations, InvalidationsListener } from './invalidations.ts'
import { Watch } from './invalidations-watch.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A watch over a server that the test plays: `reads` and `tells` are its `run_id` in the eyes of each connection. */
function watched() {
  const server = {
    reads: (): string => 'a',
    tells: async (): Promise<string> => 'a',
    pong: async (): Promise<unknown> => 'PONG',
  }
  const tracked: (readonly string[])[] = []
  const infos: number[] = []
  const pings: number[] = []
  const copies: string[] = []
  let listener!: InvalidationsListener
  const connection: Connection = {
    client: 'recording',
    cluster: false,
    masters: async () => [connection],
    async send() {
      infos.push(performance.now())
      return `run_id:${server.reads()}\r\n`
    },
  }
  const invalidations: Invalidations = {
    listen: (given) => (listener = given),
    track(prefixes) {
      tracked.push(prefixes)
      return server.tells()
    },
    ping() {
      pings.push(performance.now())
      return server.pong()
    },
  }
  const watch = new Watch(invalidations, connection)
  const follower = (name: string) => ({
    drop: (key: string) => void copies.push(`${name} drops ${key}`),
    clear: () => void copies.push(`${name} drops all`),
  })
  return {
    watch,
    server,
    tracked,
    infos,
    pings,
    copies,
    follower,
    listener: () => listener,
    invalidations,
    connection,
  }
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

describe('what is followed', () => {
  test('nothing is asked for if nobody follows', () => {
    const { watch, listener } = watched()
    watch.start()
    expect(listener()).toBeUndefined()
  })

  test('prefixes that another one covers are left out', async () => {
    const { watch, follower, listener, tracked } = watched()
    for (const prefix of ['page:', 'page:de:', 'user:', 'page']) watch.follow(prefix, follower(prefix))
    watch.follow('user:', follower('again'))
    watch.start()
    listener().connected()
    await pass(0)
    expect(tracked).toEqual([['user:', 'page']])
  })

  test('each follower hears of each key that changed, or that any may have', () => {
    const { watch, follower, listener, copies } = watched()
    watch.follow('a:', follower('a'))
    watch.follow('b:', follower('b'))
    watch.start()
    listener().changed('a:1')
    listener().changed(undefined)
    expect(copies).toEqual(['a drops a:1', 'b drops a:1', 'a drops all', 'b drops all'])
  })

  test('a cluster and a second keyspace over the same connection are refused', () => {
    const { watch, follower, invalidations, connection } = watched()
    expect(() => new Watch(invalidations, { ...connection, cluster: true })).toThrow('not on a cluster')
    watch.follow('a:', follower('a'))
    expect(() => new Watch(invalidations, connection)).not.toThrow()
    watch.start()
    expect(() => new Watch(invalidations, connection)).toThrow('give each keyspace a connection of its own')
  })
})

describe('trust', () => {
  async function started() {
    const it = watched()
    it.watch.follow('a:', it.follower('a'))
    it.watch.start()
    return it
  }

  test('begins when both connections lead to one server, counted from the question', async () => {
    const { watch, listener, server, copies } = await started()
    server.tells = () => new Promise((resolve) => setTimeout(resolve, 500, 'a'))
    const asked = performance.now()
    listener().connected()
    expect(copies).toEqual(['a drops all'])
    await pass(499)
    expect([watch.trustedUntil, watch.keeps]).toEqual([0, false])
    await pass(1)
    expect([watch.trustedUntil, watch.keeps]).toEqual([asked + 3000, true])
  })

  test('is renewed each second by one question, and lasts 3 s without an answer', async () => {
    const { watch, listener, server, pings } = await started()
    const begun = performance.now()
    listener().connected()
    await pass(0)
    await pass(2000)
    expect(pings.map((at) => at - begun)).toEqual([1000, 2000])
    expect(watch.trustedUntil - begun).toBe(5000)
    server.pong = () => new Promise(() => {})
    await pass(60_000)
    expect(pings).toHaveLength(3)
    expect(watch.trustedUntil - begun).toBe(5000)
  })

  test('goes on after a question that was refused', async () => {
    const { watch, listener, server, pings } = await started()
    const begun = performance.now()
    listener().connected()
    await pass(0)
    server.pong = () => Promise.reject(new Error('refused'))
    await pass(1000)
    expect(watch.trustedUntil - begun).toBe(3000)
    server.pong = async () => 'PONG'
    await pass(1000)
    expect(pings).toHaveLength(2)
    expect(watch.trustedUntil - begun).toBe(5000)
  })

  test('ends with the connection, whatever is answered later, and nothing is asked meanwhile', async () => {
    const { watch, listener, server, copies, pings, infos } = await started()
    let answer!: (reply: string) => void
    listener().connected()
    await pass(0)
    server.pong = () => new Promise((resolve) => (answer = resolve))
    await pass(1000)
    const before = infos.length
    listener().lost()
    expect([watch.trustedUntil, watch.keeps]).toEqual([0, false])
    answer('PONG')
    await pass(10_000)
    expect([watch.trustedUntil, watch.keeps]).toEqual([0, false])
    expect([pings.length, infos.length]).toEqual([1, before])
    expect(copies).toEqual(['a drops all', 'a drops all'])
  })

  test('does not begin for a connection that was lost before the server answered', async () => {
    const { watch, listener, server } = await started()
    let answer!: (reply: string) => void
    server.tells = () => new Promise((resolve) => (answer = resolve))
    listener().connected()
    await pass(0)
    listener().lost()
    answer('a')
    await pass(10_000)
    expect([watch.trustedUntil, watch.keeps]).toEqual([0, false])
  })

  test('a second connection tracks once the attempt before has ended, which counts no more', async () => {
    const { watch, listener, server, tracked } = await started()
    const answers: ((reply: string) => void)[] = []
    server.tells = () => new Promise((resolve) => answers.push(resolve))
    listener().connected()
    await pass(0)
    listener().connected()
    listener().connected()
    await pass(0)
    expect(tracked).toHaveLength(1)
    answers[0]!('a')
    await pass(0)
    // The second was overtaken by the third before it could ask.
    expect(tracked).toHaveLength(2)
    expect(watch.trustedUntil).toBe(0)
    answers[1]!('a')
    await pass(0)
    expect(watch.keeps).toBe(true)
  })

  test('does not begin while the connections lead to two servers, and is tried again each second', async () => {
    const { watch, listener, server, tracked } = await started()
    server.reads = () => 'b'
    listener().connected()
    await pass(0)
    expect([watch.trustedUntil, watch.keeps]).toEqual([0, false])
    await pass(3000)
    expect(tracked).toHaveLength(4)
    server.tells = async () => 'b'
    await pass(1000)
    expect(watch.keeps).toBe(true)
  })

  test('begins anew when the connection that is read from comes to lead elsewhere', async () => {
    const { watch, listener, server, tracked, copies } = await started()
    listener().connected()
    await pass(2000)
    expect(tracked).toHaveLength(1)
    server.reads = () => 'b'
    await pass(1000)
    expect([watch.trustedUntil, watch.keeps]).toEqual([0, false])
    expect(copies).toEqual(['a drops all', 'a drops all'])
    server.reads = () => 'a'
    await pass(1000)
    expect(watch.keeps).toBe(true)
    expect(watch.trustedUntil).toBeGreaterThan(performance.now())
  })

  test('copies are served, and none is kept, while it is not known who answers', async () => {
    const { watch, listener, server, tracked } = await started()
    listener().connected()
    await pass(0)
    server.reads = () => {
      throw new NotSentError('the connection is lost')
    }
    await pass(1000)
    expect(watch.keeps).toBe(false)
    expect(watch.trustedUntil).toBeGreaterThan(performance.now())
    server.reads = () => 'a'
    await pass(1000)
    expect(watch.keeps).toBe(true)
    expect(tracked).toHaveLength(1)
  })

  test('who answers is not asked after the connection was lost, nor believed', async () => {
    const { watch, listener, server } = await started()
    listener().connected()
    await pass(0)
    server.reads = () => {
      listener().lost()
      return 'a'
    }
    await pass(1000)
    expect(watch.keeps).toBe(false)
    server.reads = () => {
      listener().lost()
      throw new Error('refused')
    }
    watch.keeps = true // as a later connection would
    await pass(5000)
    expect(watch.keeps).toBe(true)
  })

  test('a server that refuses is said once, one that is away never, and both are tried again', async () => {
    const warned: string[] = []
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation((words, options) => {
      warned.push(`${(options as { type: string }).type}: ${String(words)}`)
    })
    const { listener, server, tracked } = await started()
    server.tells = () => Promise.reject(new NotSentError('the connection is lost'))
    listener().connected()
    await pass(1000)
    expect(tracked).toHaveLength(2)
    expect(warned).toEqual([])
    server.tells = () => Promise.reject(new TypeError('no permission'))
    await pass(3000)
    warn.mockRestore()
    expect(tracked).toHaveLength(5)
    expect(warned).toEqual([
      'KeyspecWarning: near copies are not used, and Redis is read each time: no permission',
    ])
  })

  test('an attempt that is refused after the connection was lost says nothing', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const { listener, server, tracked } = await started()
    let refuse!: (error: Error) => void
    server.tells = () => new Promise((_, reject) => (refuse = reject))
    listener().connected()
    await pass(0)
    listener().lost()
    refuse(new TypeError('no permission'))
    await pass(5000)
    expect(warn).not.toHaveBeenCalled()
    warn.mockRestore()
    expect(tracked).toHaveLength(1)
  })
})
