import { float32, open, string } from 'keyspec'
import type { Acts, Address, Case, Job } from '../job.ts'

const DIMENSIONS = 1536
const BYTES = DIMENSIONS * 4
const KEYS = 1000
/** How many vectors one act takes: at once from the server, or one after another through a codec. */
const MANY = 100
const TTL_MS = 3_600_000

const codec = float32(DIMENSIONS)
const schema = { vector: string('bench:vector:<id>', codec, { ttl: '1h' }) }

const cases: Case[] = [
  { name: 'get, 1 in flight', act: 'get', inFlight: 1 },
  { name: 'get, 50 in flight', act: 'get', inFlight: 50 },
  { name: `get ${MANY} in one call`, act: 'many', inFlight: 1, items: MANY },
  { name: 'set, 50 in flight', act: 'set', inFlight: 50 },
  { name: 'encode', act: 'encode', inFlight: 1, items: MANY },
  { name: 'decode, aligned', act: 'decode', inFlight: 1, items: MANY },
  { name: 'decode, misaligned', act: 'decodeMisaligned', inFlight: 1, items: MANY },
]

/** Embeddings: against JSON of the same numbers, and against bytes read by hand. */
export const vectors: Job = {
  name: 'vectors',
  about:
    `Vectors of ${DIMENSIONS} single-precision numbers (${BYTES} bytes). Raw bytes are read by hand, as a view where they are ` +
    'aligned. Encoding and decoding ask no server; JSON is told nothing of alignment, and does the same in both cases.',
  cases,
  contenders: {
    keyspec: { label: 'Keyspec float32 over node-redis', open: ours },
    bytes: { label: 'node-redis, bytes by hand, time-out off', open: byHand },
    json: { label: 'node-redis, JSON, time-out off', open: asJson },
  },
  targets: [
    ...cases
      .filter(({ act }) => act === 'get' || act === 'many')
      .map(({ name }) => ({ case: name, ours: 'keyspec', against: ['bytes'], atLeast: 0.9 })),
    { case: 'encode', ours: 'keyspec', against: ['json'], atLeast: 500 },
    { case: 'decode, aligned', ours: 'keyspec', against: ['json'], atLeast: 500 },
    { case: 'decode, misaligned', ours: 'keyspec', against: ['json'], atLeast: 50 },
  ],
}

const made = Array.from({ length: MANY }, (_, id) => vectorOf(id))

function vectorOf(seed: number): Float32Array {
  return Float32Array.from({ length: DIMENSIONS }, (_, at) => Math.sin(seed * DIMENSIONS + at))
}

/** Replies as a client may give them: each at a place of its own in a larger chunk. */
function replies(offset: number): Buffer[] {
  return made.map((vector) => {
    const chunk = Buffer.from(new ArrayBuffer(BYTES + 8))
    Buffer.from(vector.buffer).copy(chunk, offset)
    return chunk.subarray(offset, offset + BYTES)
  })
}

const aligned = replies(0)
const misaligned = replies(1)

/** Does something with every one of these, and keeps what nobody may call unused. */
function each<T>(items: readonly T[], of: (item: T) => number): () => Promise<number> {
  return async () => {
    let sum = 0
    for (let at = 0; at < items.length; at += 1) sum += of(items[at]!)
    return sum
  }
}

let turn = 0
const nextId = () => turn++ % KEYS
const ids = () => Array.from({ length: MANY }, nextId)

async function client({ socket }: Address) {
  const { createClient } = await import('redis')
  const made = createClient({ socket: { path: socket, tls: false }, commandOptions: { timeout: 0 } })
  await made.connect()
  return made
}

async function ours(server: Address): Promise<Acts> {
  const [connected, { fromNodeRedis }] = await Promise.all([client(server), import('keyspec/node-redis')])
  const keys = open(schema, fromNodeRedis(connected))
  for (let id = 0; id < KEYS; id += 1) await keys.vector({ id }).set(made[id % MANY]!)
  const decode = (stored: Buffer) => codec.decode(stored as string & Buffer)[7]!
  return {
    acts: {
      get: () => keys.vector({ id: nextId() }).get(),
      many: () => keys.vector.many(ids().map((id) => ({ id }))).get(),
      set: () => keys.vector({ id: nextId() }).set(made[turn % MANY]!),
      encode: each(made, (vector) => codec.encode(vector).length),
      decode: each(aligned, decode),
      decodeMisaligned: each(misaligned, decode),
    },
    close: () => connected.destroy(),
  }
}

async function byHand(server: Address): Promise<Acts> {
  const [connected, { RESP_TYPES }] = await Promise.all([client(server), import('redis')])
  const bytes = connected.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
  const key = (id: number) => `bench:vector:${id}`
  const encode = (vector: Float32Array) => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)
  const decode = (stored: Buffer) =>
    stored.byteOffset % 4 === 0
      ? new Float32Array(stored.buffer, stored.byteOffset, DIMENSIONS)
      : new Float32Array(Uint8Array.from(stored).buffer)
  const expiration = { type: 'PX', value: TTL_MS } as const
  for (let id = 0; id < KEYS; id += 1) await connected.set(key(id), encode(made[id % MANY]!))
  return {
    acts: {
      get: async () => decode((await bytes.get(key(nextId())))!),
      many: async () => (await bytes.mGet(ids().map(key))).map((stored) => decode(stored!)),
      set: () => connected.set(key(nextId()), encode(made[turn % MANY]!), { expiration }),
      encode: each(made, (vector) => encode(vector).length),
      decode: each(aligned, (stored) => decode(stored)[7]!),
      decodeMisaligned: each(misaligned, (stored) => decode(stored)[7]!),
    },
    close: () => connected.destroy(),
  }
}

async function asJson(server: Address): Promise<Acts> {
  const connected = await client(server)
  const key = (id: number) => `bench:vector:${id}`
  const numbers = made.map((vector) => [...vector])
  const texts = numbers.map((vector) => JSON.stringify(vector))
  const expiration = { type: 'PX', value: TTL_MS } as const
  for (let id = 0; id < KEYS; id += 1) await connected.set(key(id), texts[id % MANY]!)
  const parse = (text: string) => (JSON.parse(text) as number[])[7]!
  return {
    acts: {
      get: async () => JSON.parse((await connected.get(key(nextId())))!),
      many: async () => (await connected.mGet(ids().map(key))).map((text) => JSON.parse(text!) as unknown),
      set: () => connected.set(key(nextId()), JSON.stringify(numbers[turn % MANY]), { expiration }),
      encode: each(numbers, (vector) => JSON.stringify(vector).length),
      decode: each(texts, parse),
      decodeMisaligned: each(texts, parse),
    },
    close: () => connected.destroy(),
  }
}
