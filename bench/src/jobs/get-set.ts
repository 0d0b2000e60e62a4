import { json, open, string } from 'keyspec'
import { type } from 'arktype'
import * as v from 'valibot'
import type { Acts, Address, Case, Job } from '../job.ts'

const Session = type({
  user: 'string',
  roles: 'string[]',
  cart: type({ sku: 'string', count: 'number' }).array(),
})
const session: typeof Session.infer = {
  user: 'ada',
  roles: ['reader', 'editor'],
  cart: [
    { sku: 'a-1', count: 2 },
    { sku: 'b-7', count: 1 },
  ],
}
const KEYS = 10_000
const TTL_MS = 3_600_000

// One library compiles its schemas, the other interprets them; either is what somebody runs.
const schema = { session: string('bench:session:<id>', json(Session), { ttl: '1h' }) }
const interpreted = {
  session: string(
    'bench:session:<id>',
    json(
      v.object({
        user: v.string(),
        roles: v.array(v.string()),
        cart: v.array(v.object({ sku: v.string(), count: v.number() })),
      }),
    ),
    { ttl: '1h' },
  ),
}

const inFlight = [1, 50, 500]
const cases: Case[] = ['get', 'set'].flatMap((act) =>
  inFlight.map((many) => ({ name: `${act}, ${many} in flight`, act, inFlight: many })),
)

/** Typed reads and writes of JSON, against the same client raw. Validation is part of ours: raw has none. */
export const getSet: Job = {
  name: 'get-set',
  about:
    'A small JSON value, read or written with its TTL; 10,000 keys. Ours validates what it writes and reads, by ArkType unless another is named; raw calls JSON.stringify and JSON.parse, and checks nothing.',
  cases,
  contenders: {
    'keyspec/node-redis': {
      label: 'Keyspec over node-redis',
      open: async (server) => typed(schema, await overNodeRedis(server)),
    },
    'keyspec/node-redis/valibot': {
      label: 'Keyspec over node-redis, validated by valibot',
      open: async (server) => typed(interpreted, await overNodeRedis(server)),
    },
    'keyspec/ioredis': {
      label: 'Keyspec over ioredis',
      open: async (server) => typed(schema, await overIoredis(server)),
    },
    'node-redis': {
      label: 'node-redis, time-out off',
      open: (server) => rawNodeRedis(server, { timeout: 0 }),
    },
    'node-redis as it comes': { label: 'node-redis as it comes', open: (server) => rawNodeRedis(server) },
    ioredis: { label: 'ioredis', open: rawIoredis },
  },
  targets: cases.flatMap(({ name, inFlight: many }) => [
    {
      case: name,
      ours: 'keyspec/node-redis',
      against: ['node-redis'],
      atLeast: many === 1 ? 0.95 : many === 50 ? 1 : 1.2,
    },
    ...(many === 500
      ? [{ case: name, ours: 'keyspec/node-redis', against: ['node-redis as it comes'], atLeast: 3 }]
      : []),
    {
      case: name,
      ours: 'keyspec/ioredis',
      against: ['ioredis'],
      atLeast: many === 1 ? 0.95 : many === 50 ? 1.2 : 2.5,
    },
  ]),
}

interface Opened {
  readonly connection: Parameters<typeof open>[1]
  close(): void
}

async function overNodeRedis({ socket }: Address): Promise<Opened> {
  const [{ createClient }, { fromNodeRedis }] = await Promise.all([
    import('redis'),
    import('keyspec/node-redis'),
  ])
  const client = createClient({ socket: { path: socket, tls: false } })
  await client.connect()
  return { connection: fromNodeRedis(client), close: () => client.destroy() }
}

async function overIoredis({ socket }: Address): Promise<Opened> {
  const [{ Redis }, { fromIoredis }] = await Promise.all([import('ioredis'), import('keyspec/ioredis')])
  const client = new Redis(socket)
  return { connection: fromIoredis(client), close: () => client.disconnect() }
}

async function typed(declared: typeof schema, { connection, close }: Opened): Promise<Acts> {
  const keys = open(declared, connection)
  for (let id = 0; id < KEYS; id += 1) await keys.session({ id }).set(session)
  let turn = 0
  return {
    acts: {
      get: () => keys.session({ id: turn++ % KEYS }).get(),
      set: () => keys.session({ id: turn++ % KEYS }).set(session),
    },
    close,
  }
}

async function rawNodeRedis({ socket }: Address, commandOptions?: { timeout: number }): Promise<Acts> {
  const { createClient } = await import('redis')
  const client = createClient({
    socket: { path: socket, tls: false },
    ...(commandOptions === undefined ? {} : { commandOptions: { timeout: commandOptions.timeout } }),
  })
  await client.connect()
  let turn = 0
  const key = () => `bench:session:${turn++ % KEYS}`
  for (let id = 0; id < KEYS; id += 1) await client.set(key(), JSON.stringify(session))
  return {
    acts: {
      get: async () => JSON.parse((await client.get(key()))!),
      set: () => client.set(key(), JSON.stringify(session), { expiration: { type: 'PX', value: TTL_MS } }),
    },
    close: () => client.destroy(),
  }
}

async function rawIoredis({ socket }: Address): Promise<Acts> {
  const { Redis } = await import('ioredis')
  const client = new Redis(socket)
  let turn = 0
  const key = () => `bench:session:${turn++ % KEYS}`
  for (let id = 0; id < KEYS; id += 1) await client.set(key(), JSON.stringify(session))
  return {
    acts: {
      get: async () => JSON.parse((await client.get(key()))!),
      set: () => client.set(key(), JSON.stringify(session), 'PX', TTL_MS),
    },
    close: () => client.disconnect(),
  }
}
