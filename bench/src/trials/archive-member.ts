import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { copyKeys, exportKeys, importKeys, selectKeys } from '@keyspec/inspect'
import { fromNodeRedis } from 'keyspec/node-redis'
import { createClient, RESP_TYPES } from 'redis'
import type { Address } from '../job.ts'
import type { Member } from '../member.ts'
import { fill, schema } from './archive-keys.ts'

/** What the process of one contender is to do with which servers. */
export interface ArchiveOptions {
  readonly contender: 'keyspec' | 'one' | 'page' | 'migrate'
  readonly from: Address
  readonly to: Address
  readonly keys: number
  readonly file: string
}

/** What it came to; keys that were dumped or written, and what the process spent on it. */
export interface Moved {
  readonly keys: number
  readonly tookMs: number
  readonly clientMicros: number
  readonly peakMB: number
}

const PAGE = 1000

/** The word is `fill`, or what to do: `export`, `import` or `copy`. */
export const member: Member<ArchiveOptions, Moved> = async ({ contender, from, to, keys, file }) => {
  const [here, there] = await Promise.all([from, to].map(connected))
  const of = { from: here!, to: there!, target: to, keys, file }
  return async (word) => {
    if (word === 'fill') {
      await fill(here!, keys)
      return { keys, tookMs: 0, clientMicros: 0, peakMB: 0 }
    }
    const watch = new Watch()
    const moved = await MOVES[contender]![word]!(of, watch)
    return { keys: moved, ...watch.spent() }
  }
}

type Client = Awaited<ReturnType<typeof connected>>

async function connected({ socket }: Address) {
  const client = createClient({ socket: { path: socket, tls: false } })
  await client.connect()
  return client
}

/** Counts time and CPU, but for what is done between `pause` and `resume`. */
class Watch {
  #tookMs = 0
  #micros = 0
  #from = performance.now()
  #cpu = process.cpuUsage()

  pause(): void {
    const { user, system } = process.cpuUsage(this.#cpu)
    this.#micros += user + system
    this.#tookMs += performance.now() - this.#from
  }

  resume(): void {
    this.#from = performance.now()
    this.#cpu = process.cpuUsage()
  }

  spent(): Omit<Moved, 'keys'> {
    this.pause()
    return {
      tookMs: this.#tookMs,
      clientMicros: this.#micros,
      peakMB: process.resourceUsage().maxRSS / 1024,
    }
  }
}

interface Sides {
  readonly from: Client
  readonly to: Client
  readonly target: Address
  readonly keys: number
  readonly file: string
}

type Move = (sides: Sides, watch: Watch) => Promise<number>

const MOVES: { readonly [contender: string]: { readonly [word: string]: Move } } = {
  keyspec: { export: exported, import: imported, copy: copied },
  one: {
    // One at a time takes its time: a share of the keys tells the rate.
    export: ({ from, keys }) => pages(from, Math.ceil(keys / 20), (client, names) => oneByOne(client, names)),
    import: (sides, watch) =>
      restored(sides, watch, Math.ceil(sides.keys / 20), async (to, values) => {
        for (const [key, ttl, dump] of values) await to.restore(key, ttl, dump)
      }),
  },
  page: {
    export: ({ from, keys }) => pages(from, keys, (client, names) => together(client, names)),
    import: (sides, watch) =>
      restored(sides, watch, sides.keys, async (to, values) => {
        await Promise.all(values.map(([key, ttl, dump]) => to.restore(key, ttl, dump)))
      }),
  },
  migrate: {
    copy: ({ from, target, keys }) =>
      pages(from, keys, async (client, names) => {
        // No typed MIGRATE takes many keys of one page at once more simply.
        await client.sendCommand([
          'MIGRATE',
          '127.0.0.1',
          String(target.port),
          '',
          '0',
          '60000',
          'COPY',
          'KEYS',
          ...names,
        ])
      }),
  },
}

async function exported({ from, file }: Sides): Promise<number> {
  const out = await open(file, 'w')
  const how = { schema, keyspec: 'bench', maxLoad: 1 }
  const exporting = exportKeys(fromNodeRedis(from), selectKeys(schema), how)
  for await (const { bytes } of exporting) await out.writeFile(bytes)
  await out.sync()
  await out.close()
  return (await exporting).keys
}

async function imported({ to, file }: Sides): Promise<number> {
  const source = () => createReadStream(file, { highWaterMark: 1024 * 1024 })
  return (await importKeys(fromNodeRedis(to), source, { maxLoad: 1 })).restored
}

async function copied({ from, to }: Sides): Promise<number> {
  const [here, there] = [fromNodeRedis(from), fromNodeRedis(to)]
  return (await copyKeys(here, there, selectKeys(schema), { maxLoad: 1 })).copied
}

type Value = readonly [key: string, ttlMs: number, dump: Buffer]

/** Does something with each page that SCAN finds, until there were so many keys. */
async function pages(
  client: Client,
  most: number,
  act: (client: Client, names: string[]) => Promise<unknown>,
): Promise<number> {
  let done = 0
  for await (const names of client.scanIterator({ COUNT: PAGE })) {
    const some = names.slice(0, most - done)
    if (some.length === 0) break
    await act(client, some)
    done += some.length
  }
  return done
}

async function oneByOne(client: Client, names: readonly string[]): Promise<Value[]> {
  const bytes = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
  const values: Value[] = []
  for (const name of names) {
    const dump = await bytes.dump(name)
    const ttl = await client.pTTL(name)
    values.push([name, Math.max(0, ttl), dump])
  }
  return values
}

async function together(client: Client, names: readonly string[]): Promise<Value[]> {
  const bytes = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
  return Promise.all(
    names.map(async (name) => {
      const [dump, ttl] = await Promise.all([bytes.dump(name), client.pTTL(name)])
      return [name, Math.max(0, ttl), dump] as const
    }),
  )
}

/** Writes pages whose values were read beforehand, which is not counted. */
function restored(
  { from, to }: Sides,
  watch: Watch,
  most: number,
  write: (to: Client, values: readonly Value[]) => Promise<unknown>,
): Promise<number> {
  return pages(from, most, async (client, names) => {
    watch.pause()
    const values = await together(client, names)
    watch.resume()
    await write(to, values)
  })
}
