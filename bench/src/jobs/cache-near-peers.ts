import { json, open } from 'keyspec'
import { cache } from 'keyspec/recipes'
import * as v from 'valibot'
import type { Address } from '../job.ts'
import { bentoCache, type Page } from '../peers/caches.ts'

/** A cache that keeps copies in its process. */
export interface NearCache {
  get(id: string): Promise<Page | undefined>
  set(id: string, page: Page): Promise<unknown>
  close(): Promise<unknown> | void
}

/** How many values are kept in the process. */
export const NEAR_KEYS = 1000

const schema = {
  page: cache('bench:page:<id>', json(v.object({ title: v.string(), links: v.array(v.string()) })), {
    ttl: '1h',
    near: { most: NEAR_KEYS },
  }),
}

/** The caches with memory before Redis, as their documentation shows it. */
export const nearCaches: {
  readonly [name: string]: { readonly label: string; open(server: Address): Promise<NearCache> }
} = {
  keyspec: { label: 'Keyspec cache, near', open: ours },
  bentocache: { label: 'bentocache, memory + Redis + bus', open: bento },
  'node-redis': { label: 'node-redis clientSideCache', open: clientSide },
  cacheable: { label: 'cacheable, memory + @keyv/redis', open: cacheable },
  'cache-manager': { label: 'cache-manager, memory + @keyv/redis', open: manager },
}

async function ours({ socket }: Address): Promise<NearCache> {
  const [{ createClient }, { fromNodeRedis, invalidationsFromNodeRedis }] = await Promise.all([
    import('redis'),
    import('keyspec/node-redis'),
  ])
  const client = createClient({ RESP: 3, socket: { path: socket, tls: false } })
  const told = client.duplicate({ emitInvalidate: true })
  await Promise.all([client.connect(), told.connect()])
  const keys = open(schema, fromNodeRedis(client), { invalidations: invalidationsFromNodeRedis(told) })
  return {
    get: (id) => keys.page({ id }).get(),
    set: (id, page) => keys.page({ id }).set(page),
    close() {
      client.destroy()
      told.destroy()
    },
  }
}

async function bento(server: Address): Promise<NearCache> {
  const cached = await bentoCache(server)
  return {
    get: (key) => cached.get<Page>({ key }),
    set: (key, value) => cached.set({ key, value, ttl: '1h' }),
    close: () => cached.disconnectAll(),
  }
}

async function clientSide({ socket }: Address): Promise<NearCache> {
  const { BasicClientSideCache, createClient } = await import('redis')
  const clientSideCache = new BasicClientSideCache({ ttl: 0, maxEntries: NEAR_KEYS, evictPolicy: 'LRU' })
  const client = createClient({ RESP: 3, clientSideCache, socket: { path: socket, tls: false } })
  await client.connect()
  const key = (id: string) => `bench:page:${id}`
  return {
    async get(id) {
      const text = await client.get(key(id))
      return text === null ? undefined : (JSON.parse(text) as Page)
    },
    set: (id, page) => client.set(key(id), JSON.stringify(page), { expiration: { type: 'EX', value: 3600 } }),
    close: () => client.destroy(),
  }
}

async function cacheable({ socket }: Address): Promise<NearCache> {
  const [{ Cacheable }, { createKeyv }] = await Promise.all([import('cacheable'), import('@keyv/redis')])
  const cached = new Cacheable({ secondary: createKeyv({ socket: { path: socket, tls: false } }), ttl: '1h' })
  return {
    get: (id) => cached.get<Page>(id),
    set: (id, page) => cached.set(id, page),
    close: () => cached.disconnect(),
  }
}

async function manager({ socket }: Address): Promise<NearCache> {
  const [{ createCache }, { createKeyv }, { Keyv }, { CacheableMemory }] = await Promise.all([
    import('cache-manager'),
    import('@keyv/redis'),
    import('keyv'),
    import('cacheable'),
  ])
  const memory = new Keyv({ store: new CacheableMemory({ ttl: '1h', lruSize: NEAR_KEYS }) })
  const cached = createCache({
    stores: [memory, createKeyv({ socket: { path: socket, tls: false } })],
    ttl: 3_600_000,
  })
  return {
    // What `get` finds in Redis it does not keep in memory.
    get: (id) => cached.wrap<Page | undefined>(id, async () => undefined),
    set: (id, page) => cached.set(id, page),
    close: () => cached.disconnect(),
  }
}
