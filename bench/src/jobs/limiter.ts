import { open } from 'keyspec'
import { fixedWindow, slidingWindow } from 'keyspec/recipes'
import type { Acts, Address, Case, Contender, Job } from '../job.ts'
import { limiterPeers } from '../peers/limiters.ts'

const KEYS = 10_000
const LIMIT = 1_000_000
const PER_S = 60

const schema = {
  fixed: fixedWindow('bench:fixed:<id>', { per: `${PER_S}s`, limit: LIMIT }),
  // The largest limit of the compact form: on one hot key it is reached, and a refusal costs about what an admission does.
  exact: slidingWindow('bench:exact:<id>', { per: `${PER_S}s`, limit: 65_535 }),
  compact: slidingWindow('bench:compact:<id>', { per: `${PER_S}s`, limit: 65_535, form: 'compact' }),
}

const cases: Case[] = ['spread', 'hot'].flatMap((act) =>
  [50, 500].map((many) => ({
    name: `${act === 'hot' ? 'one hot key' : '10,000 keys'}, ${many} in flight`,
    act,
    inFlight: many,
  })),
)
const peers: { readonly [name: string]: Contender } = Object.fromEntries(
  Object.entries(limiterPeers).map(([name, { label, open }]) => [
    name,
    {
      label,
      async open(server): Promise<Acts> {
        const { take, close } = await open(server, { limit: LIMIT, perS: PER_S })
        return { acts: onKeys(take), close }
      },
    },
  ]),
)

/** Those that admit up to the limit in any span of the window. */
const SLIDING = ['ratelimiter', 'async-ratelimiter', 'rolling-rate-limiter']

/** Decisions of rate limiters whose limit is never reached, on many keys and on one. */
export const limiter: Job = {
  name: 'limiter',
  about: 'One decision of a rate limiter with a window of a minute, whose limit is not reached.',
  cases,
  contenders: {
    keyspec: { label: 'Keyspec, fixed window', open: (server) => ours(server, 'fixed') },
    'keyspec exact': {
      label: 'Keyspec, sliding window',
      open: (server) => ours(server, 'exact'),
    },
    'keyspec compact': {
      label: 'Keyspec, sliding window, compact',
      open: (server) => ours(server, 'compact'),
    },
    evalsha: { label: 'one EVALSHA a decision, node-redis raw', open: bareScript },
    ...peers,
  },
  targets: [
    ...cases.map(({ name, act, inFlight }) =>
      act === 'hot' && inFlight === 500
        ? { case: name, ours: 'keyspec', against: ['evalsha'], atLeast: 3 }
        : {
            case: name,
            ours: 'keyspec',
            against: Object.keys(peers),
            atLeast: 2,
            ...(act === 'spread' ? { onTwoCores: 1 } : {}),
          },
    ),
    ...cases.flatMap(({ name }) =>
      ['keyspec exact', 'keyspec compact'].map((form) => ({
        case: name,
        ours: form,
        against: SLIDING,
        atLeast: 2,
      })),
    ),
  ],
}

function onKeys(take: (id: string) => Promise<unknown>): Acts['acts'] {
  let turn = 0
  return { spread: () => take(`id${turn++ % KEYS}`), hot: () => take('hot') }
}

async function ours({ socket }: Address, entry: keyof typeof schema): Promise<Acts> {
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
