import { createHash } from 'node:crypto'
import { open } from 'keyspec'
import { fixedWindow, slidingWindow } from 'keyspec/recipes'
import type { Address } from '../job.ts'

/** What every limiter here is set to. */
export interface LimitOptions {
  readonly limit: number
  readonly perS: number
}

/** A limiter that is connected. */
export interface OpenLimiter {
  /** One decision. A refusal is an answer, or what it rejects with: `admitted` knows. */
  take(id: string): Promise<unknown>
  /** Whether this answer, or what `take` rejected with, admits; an error is thrown. */
  admitted(answer: unknown): boolean
  close(): void
}

/** Limiters by their names. */
export interface Limiters {
  readonly [name: string]: {
    readonly label: string
    open(server: Address, options: LimitOptions): Promise<OpenLimiter>
  }
}

/** Ours. */
export const ownLimiters: Limiters = {
  'keyspec fixed': { label: 'Keyspec, fixed window', open: ours('fixed') },
  'keyspec exact': { label: 'Keyspec, sliding window', open: ours('exact') },
  'keyspec compact': { label: 'Keyspec, sliding window, compact', open: ours('compact') },
}

/** The peers, each as its documentation shows it. */
export const limiterPeers: Limiters = {
  'rate-limiter-flexible': { label: 'rate-limiter-flexible, fixed window', open: flexible },
  '@upstash/ratelimit': { label: '@upstash/ratelimit over a local shim, fixed window', open: upstash },
  ratelimiter: { label: 'ratelimiter', open: tj },
  'async-ratelimiter': { label: 'async-ratelimiter', open: microlink },
  'rolling-rate-limiter': { label: 'rolling-rate-limiter', open: rolling },
}

function ours(entry: 'fixed' | 'exact' | 'compact') {
  return async ({ socket }: Address, { limit, perS }: LimitOptions): Promise<OpenLimiter> => {
    const [{ createClient }, { fromNodeRedis }] = await Promise.all([
      import('redis'),
      import('keyspec/node-redis'),
    ])
    const client = createClient({ socket: { path: socket, tls: false } })
    await client.connect()
    const options = { per: `${perS}s`, limit } as const
    const schema = {
      fixed: fixedWindow('bench:fixed:<id>', options),
      exact: slidingWindow('bench:exact:<id>', options),
      compact: slidingWindow('bench:compact:<id>', { ...options, form: 'compact' }),
    }
    const keys = open(schema, fromNodeRedis(client))
    return {
      take: (id) => keys[entry]({ id }).take(),
      admitted: (answer) => (unlessFailed(answer) as { readonly allowed: boolean }).allowed,
      close: () => client.destroy(),
    }
  }
}

async function flexible({ socket }: Address, { limit, perS }: LimitOptions): Promise<OpenLimiter> {
  const [{ RateLimiterRedis }, { Redis }] = await Promise.all([
    import('rate-limiter-flexible'),
    import('ioredis'),
  ])
  const client = new Redis(socket, { enableOfflineQueue: false, lazyConnect: true })
  await client.connect()
  const limits = new RateLimiterRedis({
    storeClient: client,
    keyPrefix: 'bench:rlf',
    points: limit,
    duration: perS,
  })
  return {
    take: (id) => limits.consume(id),
    admitted(answer) {
      if (answer instanceof Error) throw answer
      return (answer as { readonly consumedPoints: number }).consumedPoints <= limit
    },
    close: () => client.disconnect(),
  }
}

/**
 * Its own client speaks HTTP to a hosted service; the shim gives it the same methods over ioredis. The scripts carry a flag
 * in their first line that only that service knows: without it Redis runs them, by their SHA-1 from the second time on.
 */
async function upstash({ socket }: Address, { limit, perS }: LimitOptions): Promise<OpenLimiter> {
  const [{ Ratelimit }, { Redis }] = await Promise.all([import('@upstash/ratelimit'), import('ioredis')])
  const client = new Redis(socket)
  const known = new Map<string, string>()
  const shim = {
    async eval(script: string, keys: string[], args: unknown[]) {
      const plain = script.replace(/^\s*#!.*\n/, '')
      known.set(
        createHash('sha1').update(script).digest('hex'),
        createHash('sha1').update(plain).digest('hex'),
      )
      return client.eval(plain, keys.length, ...keys, ...args.map(String))
    },
    async evalsha(sha: string, keys: string[], args: unknown[]) {
      const plain = known.get(sha)
      if (plain === undefined) throw new Error('NOSCRIPT No matching script')
      return client.evalsha(plain, keys.length, ...keys, ...args.map(String))
    },
  }
  const limits = new Ratelimit({
    redis: shim as never,
    limiter: Ratelimit.fixedWindow(limit, `${perS} s`),
    prefix: 'bench:upstash',
    ephemeralCache: false,
    analytics: false,
  })
  return {
    take: (id) => limits.limit(id),
    admitted: (answer) => (unlessFailed(answer) as { readonly success: boolean }).success,
    close: () => client.disconnect(),
  }
}

async function tj({ socket }: Address, { limit, perS }: LimitOptions): Promise<OpenLimiter> {
  // @ts-expect-error it has no types
  const [{ default: Limiter }, { Redis }] = await Promise.all([import('ratelimiter'), import('ioredis')])
  const client = new Redis(socket)
  return {
    take: (id) =>
      new Promise((resolve, reject) => {
        new Limiter({ id: `bench:tj:${id}`, db: client, max: limit, duration: perS * 1000 }).get(
          (error: unknown, limit: unknown) => (error ? reject(error) : resolve(limit)),
        )
      }),
    // How many were left before this one.
    admitted: (answer) => (unlessFailed(answer) as { readonly remaining: number }).remaining > 0,
    close: () => client.disconnect(),
  }
}

async function microlink({ socket }: Address, { limit, perS }: LimitOptions): Promise<OpenLimiter> {
  const [{ default: Limiter }, { Redis }] = await Promise.all([
    import('async-ratelimiter'),
    import('ioredis'),
  ])
  const client = new Redis(socket)
  const limits = new Limiter({ db: client, namespace: 'bench:async', max: limit, duration: perS * 1000 })
  return {
    take: (id) => limits.get({ id }),
    admitted: (answer) => (unlessFailed(answer) as { readonly remaining: number }).remaining > 0,
    close: () => client.disconnect(),
  }
}

async function rolling({ socket }: Address, { limit, perS }: LimitOptions): Promise<OpenLimiter> {
  const [{ RedisRateLimiter }, { Redis }] = await Promise.all([
    import('rolling-rate-limiter'),
    import('ioredis'),
  ])
  const client = new Redis(socket)
  const limits = new RedisRateLimiter({
    client: client as never,
    namespace: 'bench:rolling:',
    interval: perS * 1000,
    maxInInterval: limit,
  })
  return {
    take: (id) => limits.limit(id),
    admitted: (answer) => unlessFailed(answer) === false,
    close: () => client.disconnect(),
  }
}

function unlessFailed(answer: unknown): unknown {
  if (answer instanceof Error) throw answer
  return answer
}
