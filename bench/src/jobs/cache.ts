import { json, open } from 'keyspec'
import { cache as cacheOf } from 'keyspec/recipes'
import * as v from 'valibot'
import type { Acts, Address, Case, Job } from '../job.ts'
import { page } from '../peers/caches.ts'

const Page = v.object({ title: v.string(), links: v.array(v.string()) })
const schema = { page: cacheOf('bench:page:<id>', json(Page), { ttl: '1h' }) }
const KEYS = 1000

const cases: Case[] = [1, 50].map((inFlight) => ({
  name: `a hit over Redis, ${inFlight} in flight`,
  act: 'hit',
  inFlight,
}))

/** A value that is there is asked for as one that might have to be loaded; no cache keeps any in the process. */
export const cache: Job = {
  name: 'cache',
  about:
    'A small JSON value that is in Redis, asked for as one that might have to be loaded; 1,000 keys, nothing kept here.',
  cases,
  contenders: {
    keyspec: { label: 'Keyspec cache', open: ours },
    bentocache: { label: 'bentocache, Redis alone', open: bento },
    cacheable: { label: 'cacheable over @keyv/redis', open: cacheable },
    'cache-manager': { label: 'cache-manager over @keyv/redis', open: manager },
  },
  targets: cases.flatMap(({ name }) => [
    { case: name, ours: 'keyspec', against: ['bentocache'], atLeast: 3 },
    { case: name, ours: 'keyspec', against: ['cacheable'], atLeast: 1.5 },
  ]),
}

let turn = 0
const nextId = () => turn++ % KEYS
const load = () => {
  throw new Error('it should have been a hit')
}

/** Lets a cache load every key once, and then asks for them in turn. */
async function hits(
  get: (id: string, load: () => Promise<typeof page>) => Promise<unknown>,
  close: Acts['close'],
): Promise<Acts> {
  for (let from = 0; from < KEYS; from += 100)
    await Promise.all(Array.from({ length: 100 }, (_, id) => get(String(from + id), async () => page)))
  return { acts: { hit: () => get(String(nextId()), load) }, close }
}

async function ours({ socket }: Address): Promise<Acts> {
  const [{ createClient }, { fromNodeRedis }] = await Promise.all([
    import('redis'),
    import('keyspec/node-redis'),
  ])
  const client = createClient({ socket: { path: socket, tls: false } })
  await client.connect()
  const keys = open(schema, fromNodeRedis(client))
  return hits(
    (id, given) => keys.page({ id }).getOrLoad(given),
    () => client.destroy(),
  )
}

async function bento({ socket }: Address): Promise<Acts> {
  const [{ BentoCache, bentostore }, { redisDriver }] = await Promise.all([
    import('bentocache'),
    import('bentocache/drivers/redis'),
  ])
  const cached = new BentoCache({
    default: 'pages',
    stores: { pages: bentostore().useL2Layer(redisDriver({ connection: { path: socket } })) },
  })
  return hits(
    (key, factory) => cached.getOrSet({ key, factory, ttl: '1h' }),
    () => cached.disconnectAll(),
  )
}

async function cacheable({ socket }: Address): Promise<Acts> {
  const [{ Cacheable }, { createKeyv }] = await Promise.all([import('cacheable'), import('@keyv/redis')])
  // Its first tier is memory unless it is given another.
  const cached = new Cacheable({ primary: createKeyv({ socket: { path: socket, tls: false } }), ttl: '1h' })
  return hits(
    (id, given) => cached.getOrSet(id, given, { ttl: '1h' }),
    () => cached.disconnect(),
  )
}

async function manager({ socket }: Address): Promise<Acts> {
  const [{ createCache }, { createKeyv }] = await Promise.all([
    import('cache-manager'),
    import('@keyv/redis'),
  ])
  const stores = [createKeyv({ socket: { path: socket, tls: false } })]
  const cached = createCache({ stores, ttl: 3_600_000 })
  return hits(
    (id, given) => cached.wrap(id, given),
    () => cached.disconnect(),
  )
}
