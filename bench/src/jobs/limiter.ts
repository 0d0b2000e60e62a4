import { createHash } from 'node:crypto'
import { open } from 'keyspec'
import { fixedWindow, slidingWindow } from 'keyspec/recipes'
import type { Acts, Address, Case, Job } from '../job.ts'

const KEYS = 10_000
const LIMIT = 1_000_000
const PER_S = 60

const schema = {
  fixed: fixedWindow('bench:fixed:<id>', { per: `${PER_S}s`, limit: LIMIT }),
  // Its largest limit: on one hot key it is reached, and a refusal costs about what an admission does.
  compact: slidingWindow('bench:compact:<id>', { per: `${PER_S}s`, limit: 65_535, form: 'compact' }),
}

const cases: Case[] = ['spread', 'hot'].flatMap((act) =>
  [50, 500].map((many) => ({
    name: `${act === 'hot' ? 'one hot key' : '10,000 keys'}, ${many} in flight`,
    act,
    inFlight: many,
  })),
)
const peers = [
  'rate-limiter-flexible',
  '@upstash/ratelimit',
  'ratelimiter',
  'async-ratelimiter',
  'rolling-rate-limiter',
]

/** Decisions of rate limiters whose limit is never reached, on many keys and on one. */
export const limiter: Job = {
  name: 'limiter',
  about: 'One decision of a rate limiter with a window of a minute, whose limit is not reached.',
  cases,
  contenders: {
    keyspec: { label: 'Keyspec, fixed window', open: (server) => ours(server, 'fixed') },
    'keyspec compact': {
      label: 'Keyspec, sliding window, compact',
      open: (server) => ours(server, 'compact'),
    },
    evalsha: { label: 'one EVALSHA a decision, node-redis raw', open: bareScript },
    'rate-limiter-flexible': { label: 'rate-limiter-flexible, fixed window', open: flexible },
    '@upstash/ratelimit': { label: '@upstash/ratelimit over a local shim, fixed window', open: upstash },
    ratelimiter: { label: 'ratelimiter', open: tj },
    'async-ratelimiter': { label: 'async-ratelimiter', open: microlink },
    'rolling-rate-limiter': { label: 'rolling-rate-limiter', open: rolling },
  },
  targets: cases.map(({ name, act, inFlight }) =>
    act === 'hot' && inFlight === 500
      ? { case: name, ours: 'keyspec', against: ['evalsha'], atLeast: 3 }
      : { case: name, ours: 'keyspec', against: peers, atLeast: 2 },
  ),
}

function onKeys(take: (id: string) => Promise<unknown>): Acts['acts'] {
  let turn = 0
  return { spread: () => take(`id${turn++ % KEYS}`), hot: () => take('hot') }
}

async function ours({ socket }: Address, entry: 'fixed' | 'compact'): Promise<Acts> {
  const [{ createClient }, { fromNodeRedis }] = await Promise.all([
    import('redis'),
    import('keyspec/node-redis'),
  ])
  const client = createClient({ socket: { path: socket, tls: false } })
  await client.connect()
  const keys = open(schema, fromNodeRedis(client))
  return { acts: onKeys((id) => keys[entry]({ id }).take()), close: () => client.destroy() }
}

async function bareScript({ socket }: Address): Promise<Acts> {
  const { createClient } = await import('redis')
  const client = createClient({ socket: { path: socket, tls: false }, commandOptions: { timeout: 0 } })
  await client.connect()
  const sha = await client.scriptLoad(
    "local n = redis.call('INCR', KEYS[1]) if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end return {n, redis.call('PTTL', KEYS[1])}",
  )
  const per = String(PER_S * 1000)
  return {
    acts: onKeys((id) => client.evalSha(sha, { keys: [`bench:raw:${id}`], arguments: [per] })),
    close: () => client.destroy(),
  }
}

async function flexible({ socket }: Address): Promise<Acts> {
  const [{ RateLimiterRedis }, { Redis }] = await Promise.all([
    import('rate-limiter-flexible'),
    import('ioredis'),
  ])
  const client = new Redis(socket, { enableOfflineQueue: false, lazyConnect: true })
  await client.connect()
  const limits = new RateLimiterRedis({
    storeClient: client,
    keyPrefix: 'bench:rlf',
    points: LIMIT,
    duration: PER_S,
  })
  return { acts: onKeys((id) => limits.consume(id)), close: () => client.disconnect() }
}

/**
 * Its own client speaks HTTP to a hosted service; the shim gives it the same methods over ioredis. The scripts carry a flag
 * in their first line that only that service knows: without it Redis runs them, by their SHA-1 from the second time on.
 */
async function upstash({ socket }: Address): Promise<Acts> {
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
    limiter: Ratelimit.fixedWindow(LIMIT, `${PER_S} s`),
    prefix: 'bench:upstash',
    ephemeralCache: false,
    analytics: false,
  })
  return { acts: onKeys((id) => limits.limit(id)), close: () => client.disconnect() }
}

async function tj({ socket }: Address): Promise<Acts> {
  // @ts-expect-error it has no types
  const [{ default: Limiter }, { Redis }] = await Promise.all([import('ratelimiter'), import('ioredis')])
  const client = new Redis(socket)
  const take = (id: string) =>
    new Promise((resolve, reject) => {
      new Limiter({ id: `bench:tj:${id}`, db: client, max: LIMIT, duration: PER_S * 1000 }).get(
        (error: unknown, limit: unknown) => (error ? reject(error) : resolve(limit)),
      )
    })
  return { acts: onKeys(take), close: () => client.disconnect() }
}

async function microlink({ socket }: Address): Promise<Acts> {
  const [{ default: Limiter }, { Redis }] = await Promise.all([
    import('async-ratelimiter'),
    import('ioredis'),
  ])
  const client = new Redis(socket)
  const limits = new Limiter({
    db: client,
    namespace: 'bench:async',
    max: LIMIT,
    duration: PER_S * 1000,
  })
  return { acts: onKeys((id) => limits.get({ id })), close: () => client.disconnect() }
}

async function rolling({ socket }: Address): Promise<Acts> {
  const [{ RedisRateLimiter }, { Redis }] = await Promise.all([
    import('rolling-rate-limiter'),
    import('ioredis'),
  ])
  const client = new Redis(socket)
  const limits = new RedisRateLimiter({
    client: client as never,
    namespace: 'bench:rolling:',
    interval: PER_S * 1000,
    maxInInterval: LIMIT,
  })
  return { acts: onKeys((id) => limits.limit(id)), close: () => client.disconnect() }
}
