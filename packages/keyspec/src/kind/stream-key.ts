import { ONE_KEY, type Reply } from '../connection/connection.ts'
import { milliseconds } from '../duration.ts'
import { encodeFields, type FieldInputs, type FieldValues } from './fields.ts'
import { Key } from './key.ts'
import {
  type StreamHome,
  type ReadOptions,
  byName,
  entriesRead,
  itemsOf,
  type StreamItem,
} from './stream-entries.ts'
import { StreamGroup } from './stream-group.ts'
import { writeWithLifetime } from './write.ts'

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
    if (encoded.length === 0) throw new TypeError(`${this.name}: an entry needs a field at least`)
    const trim = maxLength === undefined ? [] : ['MAXLEN', exact ? '=' : '~', String(maxLength)]
    return (await writeWithLifetime(this.home, this.name, 'XADD', [], {
      lead: [...trim, id, ...encoded],
    })) as string
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
    const { bytes = false } = this.home.shape
    const reply =
      wait === undefined
        ? await this.read([...head, 'STREAMS', this.name, id], { firstKey: 4, keyCount: 1, bytes })
        : await this.read([...head, 'BLOCK', String(milliseconds(wait)), 'STREAMS', this.name, id], {
            firstKey: 6,
            keyCount: 1,
            bytes,
            blocks: true,
          })
    return this.#items(entriesRead(reply))
  }

  /** How many entries there are. */
  async length(): Promise<number> {
    return (await this.read(['XLEN', this.name], ONE_KEY)) as number
  }

  /** Drops the oldest entries; answers how many. */
  async trim({ maxLength, minId, exact = false }: StreamTrim): Promise<number> {
    const threshold =
      minId === undefined
        ? ['MAXLEN', exact ? '=' : '~', String(maxLength)]
        : ['MINID', exact ? '=' : '~', minId]
    return (await this.send(['XTRIM', this.name, ...threshold], ONE_KEY)) as number
  }

  /** Removes entries by their ids; answers how many there were. */
  async remove(...ids: readonly string[]): Promise<number> {
    if (ids.length === 0) return 0
    return (await this.send(['XDEL', this.name, ...ids], ONE_KEY)) as number
  }

  /** The state of the stream, or `undefined` where there is none. */
  async info(): Promise<StreamInfo | undefined> {
    if (!(await this.exists())) return undefined
    const info = byName(await this.send(['XINFO', 'STREAM', this.name], { firstKey: 2, keyCount: 1 }))
    const idOf = (entry: Reply | undefined) => (entry ? String((entry as readonly Reply[])[0]) : undefined)
    return {
      length: info.get('length') as number,
      firstId: idOf(info.get('first-entry')),
      lastId: idOf(info.get('last-entry')),
      newestId: String(info.get('last-generated-id')),
      groups: info.get('groups') as number,
    }
  }

  /** A consumer group of the stream: programs that share its entries, each entry going to one of them. */
  group(name: string): StreamGroup<F> {
    return new StreamGroup(this.home, this.name, name)
  }

  #items(reply: Reply): StreamItem<F>[] {
    return itemsOf<F>(reply, this.home.fields, (codec, stored, where) =>
      this.decode(codec, stored, where),
    ) as StreamItem<F>[]
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
