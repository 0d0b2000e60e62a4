import type { Connection } from 'keyspec'
import type { Keys } from '../actor/world.ts'
import { pause } from '../clock.ts'

// Each function breaks one recipe: it returns the entries that stand in for the right ones.

const ONE_KEY = { firstKey: 1, keyCount: 1 }

/** Returns an object that is `target` but for some members. */
function but<T extends object>(target: T, members: object): T {
  return new Proxy(target, {
    get(_, name) {
      if (name in members) return (members as Record<PropertyKey, unknown>)[name]
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

/** Wraps each acquired lock. */
function locks(keys: Keys, wrap: (held: any) => object): Partial<Keys> {
  return {
    lock: ((params: { id: string }) => {
      const key = keys.lock(params)
      return but(key, {
        async acquire() {
          const held = await key.acquire()
          return held.acquired ? but(held, wrap(held)) : held
        },
      })
    }) as Keys['lock'],
  }
}

export function trustingLock(keys: Keys): Partial<Keys> {
  return locks(keys, (held) => ({ release: () => held.release().then(() => true) }))
}

export function sameFence(keys: Keys): Partial<Keys> {
  return locks(keys, () => ({ fence: 7 }))
}

/** Wraps the queue. */
function queues(keys: Keys, wrap: (queue: ReturnType<Keys['queue']>) => object): Partial<Keys> {
  return {
    queue: (() => {
      const queue = keys.queue()
      return but(queue, wrap(queue))
    }) as Keys['queue'],
  }
}

/** Adds some jobs twice. */
export function forgetfulQueue(keys: Keys): Partial<Keys> {
  return queues(keys, (queue) => ({
    async add(jobs: { n: string; kind: string }[]) {
      if (Math.random() < 0.1) await queue.add(jobs)
      return queue.add(jobs)
    },
  }))
}

/** Says of some jobs that they are in progress, where nothing ever finds them. */
export function immortalJobs(keys: Keys, connection: Connection): Partial<Keys> {
  return queues(keys, (queue) => ({
    async complete(worker: string, { id, result }: { id: string; result: { n: string; kind: string } }) {
      if (Math.random() < 0.9) return queue.complete(worker, { id, result })
      await connection.send(['ZREM', '{queue}:deadlines', id], ONE_KEY)
      return [{ id, outcome: 'not-held' }]
    },
  }))
}

export function miscountingQueue(keys: Keys, connection: Connection): Partial<Keys> {
  return queues(keys, (queue) => ({
    async complete(worker: string, result: { id: string; result: { n: string; kind: string } }) {
      if (Math.random() < 0.1)
        await connection.send(['INCR', `{queue}:n:done:${result.result.kind}`], ONE_KEY)
      return queue.complete(worker, result)
    },
  }))
}

/** Wraps a cached page. */
function pages(keys: Keys, wrap: (page: ReturnType<Keys['page']>, id: string) => object): Partial<Keys> {
  return {
    page: ((params: { id: string }) => {
      const page = keys.page(params)
      return but(page, wrap(page, params.id))
    }) as unknown as Keys['page'],
  }
}

/** Answers what it has read before, now and then. */
export function rememberingCache(keys: Keys): Partial<Keys> {
  const remembered = new Map<string, string>()
  return pages(keys, (page, id) => ({
    async getOrLoad(load: () => Promise<string>) {
      const old = remembered.get(id)
      if (old !== undefined && Math.random() < 0.1) return old
      const value = await page.getOrLoad(load)
      remembered.set(id, value)
      return value
    },
  }))
}

/** Joins a read that is under way, and lets it take long. */
export function sharingCache(keys: Keys): Partial<Keys> {
  const flights = new Map<string, Promise<string>>()
  return pages(keys, (page, id) => ({
    getOrLoad(load: () => Promise<string>) {
      const under = flights.get(id)
      if (under !== undefined) return under
      const flight = page.getOrLoad(load).then(async (value) => {
        await pause(30)
        return value
      })
      flights.set(id, flight)
      return flight.finally(() => flights.delete(id))
    },
  }))
}

/** Serves the first value that it has read, now and then. */
export function staleCopies(keys: Keys): Partial<Keys> {
  const first = new Map<string, string>()
  return {
    near: ((params: { id: string }) => {
      const near = keys.near(params)
      return but(near, {
        async get() {
          const old = first.get(near.name)
          if (old !== undefined && Math.random() < 0.3) return old
          const value = await near.get()
          if (value !== undefined && old === undefined) first.set(near.name, value)
          return value
        },
      })
    }) as unknown as Keys['near'],
  }
}

/** Takes back what it has counted, now and then. */
export function uncountedQuota(keys: Keys, connection: Connection): Partial<Keys> {
  return {
    quota: ((params: { id: string }) => {
      const quota = keys.quota(params)
      return but(quota, {
        async take() {
          const taken = await quota.take()
          if (taken.allowed && Math.random() < 0.1)
            for (const name of quota.namesAt(taken.window)) await connection.send(['DECR', name], ONE_KEY)
          return taken
        },
      })
    }) as unknown as Keys['quota'],
  }
}

/** Replaces the members one after another. */
export function piecewiseSwap(keys: Keys, connection: Connection): Partial<Keys> {
  return {
    swap: (() => {
      const swap = keys.swap()
      return but(swap, {
        async replace(members: string[]) {
          await connection.send(['DEL', swap.name], ONE_KEY)
          for (const member of members) await connection.send(['SADD', swap.name, member], ONE_KEY)
          return { replaced: true, size: members.length }
        },
      })
    }) as Keys['swap'],
  }
}

/** Writes without looking. */
export function fallingMark(keys: Keys, connection: Connection): Partial<Keys> {
  return {
    mark: (() => {
      const mark = keys.mark()
      return but(mark, {
        async advance(value: number) {
          await connection.send(['SET', mark.name, String(value)], ONE_KEY)
          return { advanced: true, value }
        },
      })
    }) as Keys['mark'],
  }
}

/** Hands out the last number once more. */
export function repeatingSequence(keys: Keys): Partial<Keys> {
  return {
    ids: (() => {
      const ids = keys.ids()
      return but(ids, {
        async nextMany(count: number) {
          const { first, last } = await ids.nextMany(count)
          return { first: Math.random() < 0.1 ? first - 1 : first, last }
        },
      })
    }) as Keys['ids'],
  }
}

/** Reads, waits and writes. */
export function blindUpdate(keys: Keys): Partial<Keys> {
  return {
    balance: ((params: { id: string }) => {
      const balance = keys.balance(params)
      return but(balance, {
        async update(change: (value: number | undefined) => number) {
          const value = change(await balance.get())
          await pause(5)
          await balance.set(value)
          return value
        },
      })
    }) as unknown as Keys['balance'],
  }
}

/** Throws now and then, instead of rejecting. */
export function throwingCounter(keys: Keys): Partial<Keys> {
  return {
    hits: ((params: { id: string }) => {
      const hits = keys.hits(params)
      return but(hits, {
        increment() {
          if (Math.random() < 0.1) throw new RangeError('thrown as planted')
          return hits.increment()
        },
      })
    }) as unknown as Keys['hits'],
  }
}
