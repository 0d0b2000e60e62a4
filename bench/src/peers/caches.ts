import { json, open } from 'keyspec'
import { cache } from 'keyspec/recipes'
import * as v from 'valibot'
import type { Address } from '../job.ts'

const Page = v.object({ title: v.string(), links: v.array(v.string()) })

/** What the caches hold. */
export type Page = v.InferOutput<typeof Page>

/** One value of them. */
export const page: Page = { title: 'Home', links: ['/a', '/b', '/c'] }

/** A cache, as far as a stampede knows it. */
export type GetOrLoad = (id: string, load: () => Promise<Page>) => Promise<unknown>

const schema = { page: cache('bench:page:<id>', json(Page), { ttl: '1h' }) }

/** The caches with their recommended set-up: all tiers that their documentation shows, none of their stale answers. */
export const caches: {
  readonly [name: string]: { readonly label: string; open(server: Address): Promise<GetOrLoad> }
} = {
  keyspec: { label: 'Keyspec cache', open: ours },
  bentocache: { label: 'bentocache, memory + Redis + bus', open: bento },
  cacheable: { label: 'cacheable, memory + @keyv/redis', open: cacheable },
  'cache-manager': { label: 'cache-manager over @keyv/redis', open: manager },
}

/** bentocache with memory before Redis, and a bus that tells other processes what changed. */
export async function bentoCache({ socket }: Address) {
  const [{ BentoCache, bentostore }, { memoryDriver }, { redisDriver, redisBusDriver }] = await Promise.all([
    import('bentocache'),
    import('bentocache/drivers/memory'),
    import('bentocache/drivers/redis'),
  ])
  const connection = { path: socket }
  return new BentoCache({
    default: 'pages',
    stores: {
      pages: bentostore()
        .useL1Layer(memoryDriver({ maxSize: '10mb' }))
        .useL2Layer(redisDriver({ connection }))
        .useBus(redisBusDriver({ connection })),
    },
  })
}

async function ours({ socket }: Address): Promise<GetOrLoad> {
  const [{ createClient }, { fromNodeRedis, subscriberFromNodeRedis }] = await Promise.all([
    import('redis'),
    import('keyspec/node-redis'),
  ])
  const client = createClient({ socket: { path: socket, tls: false } })
  const listening = client.duplicate()
  await Promise.all([client.connect(), listening.connect()])
  const keys = open(schema, fromNodeRedis(client), { subscriber: subscriberFromNodeRedis(listening) })
  return (id, load) => keys.page({ id }).getOrLoad(load)
}

async function bento(server: Address): Promise<GetOrLoad> {
  const cached = await bentoCache(server)
  return (key, factory) => cached.getOrSet({ key, factory, ttl: '1h' })
}

async function cacheable({ url }: Address): Promise<GetOrLoad> {
  const [{ Cacheable }, { default: KeyvRedis }] = await Promise.all([
    import('cacheable'),
    import('@keyv/redis'),
  ])
  const cached = new Cacheable({ secondary: new KeyvRedis(url), ttl: '1h' })
  return (id, load) => cached.getOrSet(id, load, { ttl: '1h' })
}

async function manager({ url }: Address): Promise<GetOrLoad> {
  const [{ createCache }, { createKeyv }] = await Promise.all([
    import('cache-manager'),
    import('@keyv/redis'),
  ])
  const cached = createCache({ stores: [createKeyv(url)], ttl: 3_600_000 })
  return (id, load) => cached.wrap(id, load)
}
