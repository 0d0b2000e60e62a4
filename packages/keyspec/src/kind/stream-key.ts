import { ONE_KEY, type Reply } from '../connection/connection.ts'
import { arrayReply, decodeReply, integerReply, textReply } from '../connection/reply.ts'
import { encodeFields, type FieldInputs, type FieldValues } from './fields.ts'
import { Key } from './key.ts'
import {
  type StreamHome,
  type ReadOptions,
  entriesRead,
  idReply,
  itemsOf,
  namedReply,
  readAfter,
  type StreamItem,
} from './stream-entries.ts'
import { StreamGroup } from './stream-group.ts'
import { writeWithLifetime } from './write.ts'
import { ArgumentTypeError } from '../errors.ts'

/** What can be said when an entry is added. */
export interface StreamAddOptions {
  /** Drops the oldest entries beyond so many: not less, and exactly so many if `exact` (which costs Redis more). */
  readonly maxLength?: number
  readonly exact?: boolean
  /** The entry's id, greater than every one before; the server's clock gives it unless said otherwise. */
  readonly id?: string
}

/** Which entries: ids from `from` to `to`, both included, or `after` and `before`, both excluded; at most `limit`. */
export interface StreamRange {
  readonly from?: string
  readonly to?: string
  readonly after?: string
  readonly before?: string
  readonly limit?: number
  /** From the newest back. */
  readonly reverse?: boolean
}

/** What is dropped: the oldest entries beyond `maxLength`, or those older than `minId`. Not less, and exactly that if `exact`. */
export type StreamTrim = { readonly exact?: boolean } & (
  | { readonly maxLength: number; readonly minId?: never }
  | { readonly minId: string; readonly maxLength?: never }
)

/** A key that holds a stream. */
export class StreamKey<F> extends Key {
  declare protected readonly home: StreamHome

  constructor(home: StreamHome, name: string) {
    super(home, name)
  }

  /** Appends an entry; answers its id. */
  async add(
    value: FieldInputs<F>,
    { maxLength, exact = false, id = '*' }: StreamAddOptions = {},
  ): Promise<string> {
    const values = value as Readonly<Record<string, unknown>>
    const encoded = encodeFields(this.name, this.home.fields, values, (codec, field, where) =>
      this.encode(codec, field, where),
    )
    if (encoded.length === 0) throw new ArgumentTypeError(`${this.name}: an entry needs a field at least`)
    const trim = maxLength === undefined ? [] : ['MAXLEN', exact ? '=' : '~', String(maxLength)]
    const lead = [...trim, id, ...encoded]
    return decodeReply(
      textReply,
      await writeWithLifetime(this.home, this.name, 'XADD', [], { lead }),
      this.name,
    )
  }

  /** The entries in the order of their ids. */
  async range(range: StreamRange = {}): Promise<StreamItem<F>[]> {
    const { from = '-', to = '+', after, before, limit, reverse = false } = range
    const lower = after === undefined ? from : `(${after}`
    const upper = before === undefined ? to : `(${before}`
    const bounds = reverse ? ['XREVRANGE', this.name, upper, lower] : ['XRANGE', this.name, lower, upper]
    const command = limit === undefined ? bounds : [...bounds, 'COUNT', String(limit)]
    return this.#items(await this.read(command, this.home.shape))
  }

  /** The fields of one entry, or `undefined` where there is none of this id. */
  async get(id: string): Promise<FieldValues<F> | undefined> {
    return (await this.range({ from: id, to: id }))[0]?.value
  }

  /**
   * The entries after an id, at most `limit` (100). With `wait` it waits for the first to come, and answers none when the
   * time is over; `'$'` then stands for the newest id at the time of the call.
   */
  async readAfter(id: string, { limit = 100, wait }: ReadOptions = {}): Promise<StreamItem<F>[]> {
    const head = ['XREAD', 'COUNT', String(limit)]
    const reply = await this.read(...readAfter(this.home, head, this.name, id, wait))
    return this.#items(decodeReply(entriesRead, reply, this.name))
  }

  /** How many entries there are. */
  async length(): Promise<number> {
    return decodeReply(integerReply, await this.read(['XLEN', this.name], ONE_KEY), this.name)
  }

  /** Drops the oldest entries; answers how many. */
  async trim({ maxLength, minId, exact = false }: StreamTrim): Promise<number> {
    const threshold =
      minId === undefined
        ? ['MAXLEN', exact ? '=' : '~', String(maxLength)]
        : ['MINID', exact ? '=' : '~', minId]
    return decodeReply(integerReply, await this.send(['XTRIM', this.name, ...threshold], ONE_KEY), this.name)
  }

  /** Removes entries by their ids; answers how many there were. */
  async remove(...ids: readonly string[]): Promise<number> {
    if (ids.length === 0) return 0
    return decodeReply(integerReply, await this.send(['XDEL', this.name, ...ids], ONE_KEY), this.name)
  }

  /** The state of the stream, or `undefined` where there is none. */
  async info(): Promise<StreamInfo | undefined> {
    if (!(await this.exists())) return undefined
    const reply = await this.send(['XINFO', 'STREAM', this.name], { firstKey: 2, keyCount: 1 })
    return decodeReply(infoReply, reply, this.name)
  }

  /** A consumer group of the stream: programs that share its entries, each entry going to one of them. */
  group(name: string): StreamGroup<F> {
    return new StreamGroup(this.home, this.name, name)
  }

  #items(reply: Reply): StreamItem<F>[] {
    const items = (entries: Reply) =>
      itemsOf<F>(entries, this.home.fields, (codec, stored, where) => this.decode(codec, stored, where))
    return decodeReply(items, reply, this.name) as StreamItem<F>[]
  }
}

function infoReply(reply: Reply): StreamInfo {
  const at = namedReply(reply)
  const idOf = (entry: Reply) => (entry === null ? undefined : idReply(arrayReply(entry)[0] ?? null))
  return {
    length: integerReply(at('length')),
    firstId: idOf(at('first-entry')),
    lastId: idOf(at('last-entry')),
    newestId: idReply(at('last-generated-id')),
    groups: integerReply(at('groups')),
  }
}

/** The state of a stream. */
export interface StreamInfo {
  readonly length: number
  readonly firstId: string | undefined
  readonly lastId: string | undefined
  /** The greatest id it ever gave, be the entry there or not. */
  readonly newestId: string
  /** How many consumer groups it has. */
  readonly groups: number
}
