import { type Command, ONE_KEY, type Reply, type Shape } from '../connection/connection.ts'
import { type Duration, milliseconds } from '../duration.ts'
import { digits, text, wellFormed } from '../script/argument.ts'
import {
  anyReply,
  booleanReply,
  decodeReply,
  integerReply,
  listReply,
  optionalReply,
  textReply,
  tupleReply,
} from '../connection/reply.ts'
import { script } from '../script/script.ts'
import { Key } from './key.ts'
import { ttlFor } from './lifetime.ts'
import * as lua from './lua.gen.ts'
import {
  entriesRead,
  idReply,
  itemsOf,
  namedReply,
  readAfter,
  type StreamItem,
  type TrimmedItem,
  type ReadOptions,
  type StreamHome,
} from './stream-entries.ts'

const createGroup = script('kind/create-group', {
  keys: ['key'],
  args: { group: text, from: text, ttlMs: digits },
  lua: lua.createGroup,
  commands: ['PEXPIRE', 'PTTL', 'XGROUP CREATE'],
  reply: booleanReply,
})

const PENDING = listReply(tupleReply(textReply, textReply, integerReply, integerReply))
// Redis 6.2 does not say which entries are gone.
const CLAIMED = tupleReply(idReply, anyReply, optionalReply(listReply(idReply)))
const GROUPS = listReply((group): GroupInfo => {
  const at = namedReply(group)
  return {
    name: textReply(at('name')),
    consumers: integerReply(at('consumers')),
    pending: integerReply(at('pending')),
    lastId: textReply(at('last-delivered-id')),
  }
})

const SECOND_ARGUMENT = { firstKey: 2, keyCount: 1 } as const

/** A consumer group: it remembers what was given to whom until it is acknowledged. It goes when its stream goes. */
export class StreamGroup<F> {
  readonly name: string
  readonly #stream: GroupedStream<F>

  constructor(home: StreamHome, stream: string, name: string) {
    this.name = name
    this.#stream = new GroupedStream(home, stream)
  }

  /**
   * Creates the group, and the stream where there is none; answers whether it did not exist before. It begins with the
   * entries after the id `from`: all of them unless said otherwise, `'$'` for those to come.
   */
  async create({ from = '0' }: { readonly from?: string } = {}): Promise<boolean> {
    return this.#stream.createGroup(this.name, from)
  }

  /** Gives a consumer the next entries that none was given, at most `limit` (100): now, or within `wait`. */
  async read(consumer: string, options: ReadOptions = {}): Promise<StreamItem<F>[]> {
    return (await this.#stream.readGroup(this.name, consumer, '>', options)) as StreamItem<F>[]
  }

  /** The entries that this consumer was given and has not acknowledged, after an id; those trimmed since come without a value. */
  async readAgain(
    consumer: string,
    { after = '0', limit = 100 }: { readonly after?: string; readonly limit?: number } = {},
  ): Promise<(StreamItem<F> | TrimmedItem)[]> {
    return this.#stream.readGroup(this.name, consumer, after, { limit })
  }

  /** Says that entries are done with; answers how many of them were pending. */
  async ack(...ids: readonly string[]): Promise<number> {
    return this.#stream.ack(this.name, ids)
  }

  /** The entries given and not acknowledged, oldest first, at most `limit` (100); of all consumers or of one. */
  async pending(options: PendingOptions = {}): Promise<Pending[]> {
    return this.#stream.pending(this.name, options)
  }

  /**
   * Takes over for a consumer what another was given and did not acknowledge for at least `idleFor`. Looks at about `limit`
   * (100) entries, from `from` on; `next` is where to go on, `undefined` after the last. `trimmed` are ids whose entries
   * are gone, which Redis 7 also forgets.
   */
  async claim(consumer: string, options: ClaimOptions): Promise<ClaimResult<F>> {
    return this.#stream.claim(this.name, consumer, options)
  }

  /** The state of the group, or `undefined` where there is none. */
  async info(): Promise<GroupInfo | undefined> {
    return (await this.#stream.groups()).find(({ name }) => name === this.name)
  }

  /** Deletes the group and what it remembers, not the stream; answers whether it existed. */
  async delete(): Promise<boolean> {
    return this.#stream.deleteGroup(this.name)
  }
}

/** Which pending entries. */
export interface PendingOptions {
  readonly consumer?: string
  /** Only those that were given at least so long ago. */
  readonly idleFor?: Duration
  readonly limit?: number
}

/** An entry that a consumer was given and has not acknowledged. */
export interface Pending {
  readonly id: string
  readonly consumer: string
  /** How long ago it was given last, in ms. */
  readonly idleMs: number
  /** How often it was given. */
  readonly deliveries: number
}

/** What is claimed. */
export interface ClaimOptions {
  readonly idleFor: Duration
  readonly limit?: number
  readonly from?: string
}

/** What a claim took over. */
export interface ClaimResult<F> {
  readonly entries: StreamItem<F>[]
  readonly trimmed: string[]
  readonly next: string | undefined
}

/** The state of a consumer group. */
export interface GroupInfo {
  readonly name: string
  readonly consumers: number
  readonly pending: number
  /** The id of the last entry that any of its consumers was given. */
  readonly lastId: string
}

/** The commands of a group on its stream. */
class GroupedStream<F> extends Key {
  declare protected readonly home: StreamHome

  constructor(home: StreamHome, name: string) {
    super(home, name)
  }

  // The names of groups and consumers go through no codec and no pattern.
  protected override async send(command: Command, shape: Shape): Promise<Reply> {
    for (const argument of command) wellFormed(argument)
    return super.send(command, shape)
  }

  createGroup(group: string, from: string): Promise<boolean> {
    const { connection, lifetime } = this.home
    return createGroup.run(connection, { key: this.name }, { group, from, ttlMs: ttlFor(lifetime) })
  }

  async readGroup(
    group: string,
    consumer: string,
    after: string,
    { limit = 100, wait }: ReadOptions,
  ): Promise<(StreamItem<F> | TrimmedItem)[]> {
    const head = ['XREADGROUP', 'GROUP', group, consumer, 'COUNT', String(limit)]
    const reply = await this.read(...readAfter(this.home, head, this.name, after, wait))
    return this.#items(decodeReply(entriesRead, reply, this.name))
  }

  async ack(group: string, ids: readonly string[]): Promise<number> {
    if (ids.length === 0) return 0
    return decodeReply(integerReply, await this.send(['XACK', this.name, group, ...ids], ONE_KEY), this.name)
  }

  async pending(group: string, { consumer, idleFor, limit = 100 }: PendingOptions): Promise<Pending[]> {
    const command = ['XPENDING', this.name, group]
    if (idleFor !== undefined) command.push('IDLE', String(milliseconds(idleFor)))
    command.push('-', '+', String(limit))
    if (consumer !== undefined) command.push(consumer)
    return decodeReply(PENDING, await this.send(command, ONE_KEY), this.name).map(
      ([id, who, idleMs, deliveries]) => ({ id, consumer: who, idleMs, deliveries }),
    )
  }

  async claim(
    group: string,
    consumer: string,
    { idleFor, limit = 100, from = '0-0' }: ClaimOptions,
  ): Promise<ClaimResult<F>> {
    const idleMs = String(milliseconds(idleFor))
    const command = ['XAUTOCLAIM', this.name, group, consumer, idleMs, from, 'COUNT', String(limit)]
    const reply = await this.read(command, this.home.shape)
    const [next, claimed, gone] = decodeReply(CLAIMED, reply, this.name)
    const items = this.#items(claimed)
    const trimmed = gone ?? []
    return {
      entries: items.filter((item): item is StreamItem<F> => item.value !== undefined),
      trimmed: [...trimmed, ...items.filter(({ value }) => value === undefined).map(({ id }) => id)],
      next: next === '0-0' ? undefined : next,
    }
  }

  async groups(): Promise<GroupInfo[]> {
    if (!(await this.exists())) return []
    const reply = await this.send(['XINFO', 'GROUPS', this.name], SECOND_ARGUMENT)
    return decodeReply(GROUPS, reply, this.name)
  }

  async deleteGroup(group: string): Promise<boolean> {
    if (!(await this.exists())) return false
    return (await this.send(['XGROUP', 'DESTROY', this.name, group], SECOND_ARGUMENT)) === 1
  }

  #items(reply: Reply): (StreamItem<F> | TrimmedItem)[] {
    const items = (entries: Reply) =>
      itemsOf<F>(entries, this.home.fields, (codec, stored, where) => this.decode(codec, stored, where))
    return decodeReply(items, reply, this.name)
  }
}
