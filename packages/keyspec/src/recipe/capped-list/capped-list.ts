import type { Codec } from '../../codec/codec.ts'
import { ONE_KEY, ONE_KEY_BYTES } from '../../connection/connection.ts'
import { SchemaError } from '../../errors.ts'
import { type Entry, openEntry } from '../../kind/entry.ts'
import { type Home, homeOf, Key } from '../../kind/key.ts'
import { type EntryOptions, type Kind, keySpec } from '../../kind/kind.ts'
import type { ParamCodecs } from '../../param.ts'
import { int, rest } from '../../script/argument.ts'
import { arrayReply, decodeReply, integerReply } from '../../connection/reply.ts'
import { script } from '../../script/script.ts'
import { LIFETIME, lifetimeNow } from '../lifetime.ts'
import * as lua from './lua.gen.ts'

/** An entry of bounded lists: `keys.history({ sessionId })` is a `CappedListKey`. */
export type CappedListEntry<P extends string, C, T, In> = Entry<P, C, CappedListKey<T, In>>

/** What a `cappedList` declares beside its lifetime. */
export interface CappedListOptions {
  /** How many values are kept: the newest. */
  readonly most: number
}

/**
 * The newest `most` values, newest first, in a list. A longer list that others wrote is cut when the next value is added.
 * While Redis cannot be reached its verbs reject with the client's error.
 *
 * @example
 * history: cappedList('topic_history:<sessionId>', json(Topic), { most: 50, ttl: '24h' })
 * await keys.history({ sessionId }).add(topic)
 */
export function cappedList<const P extends string, T, In, const C extends ParamCodecs<P> = {}>(
  pattern: P,
  codec: Codec<T, In>,
  options: EntryOptions<P, C> & CappedListOptions,
): Kind<CappedListEntry<P, C, T, In>> {
  const { most } = options
  if (!Number.isSafeInteger(most) || most < 1)
    throw new SchemaError(`"${pattern}" keeps the newest ${most}: most is a whole number from 1`)
  const spec = keySpec(pattern, 'list', codec, options)
  return {
    keys: [spec],
    together: false,
    layout: 1,
    commands: [...add.commands, 'LINDEX', 'LRANGE'],
    open(opening) {
      const home = { ...homeOf(spec, opening), codec, most }
      return openEntry(spec, opening, (name) => new CappedListKey(home, name))
    },
  }
}

const add = script('capped-list/add', {
  keys: ['key'],
  args: { ...LIFETIME, most: int, values: rest },
  lua: lua.add,
  commands: ['LLEN', 'LPUSH', 'LTRIM', 'PEXPIRE', 'PTTL'],
  reply: integerReply,
})

interface CappedListHome<T, In> extends Home {
  readonly codec: Codec<T, In>
  readonly most: number
}

/** A list of the newest values. */
export class CappedListKey<T, In = T> extends Key {
  declare protected readonly home: CappedListHome<T, In>

  constructor(home: CappedListHome<T, In>, name: string) {
    super(home, name)
  }

  /** Adds values, the last of them the newest, and drops the oldest past `most`; answers how many there are now. */
  async add(...values: readonly In[]): Promise<number> {
    const { connection, codec, lifetime, most } = this.home
    const stored = values.slice(-most).map((value) => this.encode(codec, value))
    return add.run(connection, { key: this.name }, { ...lifetimeNow(lifetime), most, values: stored })
  }

  /** The newest values, newest first: `count` of them, or all that are kept. */
  async list(count: number = this.home.most): Promise<T[]> {
    const { codec, most } = this.home
    const last = Math.min(count, most) - 1
    if (!(last >= 0)) return []
    const reply = await this.read(['LRANGE', this.name, '0', String(last)], this.#shape)
    return decodeReply(arrayReply, reply, this.name).map((stored) => this.decode(codec, stored))
  }

  /** The newest value, or `undefined` where there is none. */
  async latest(): Promise<T | undefined> {
    const reply = await this.read(['LINDEX', this.name, '0'], this.#shape)
    return reply === null ? undefined : this.decode(this.home.codec, reply)
  }

  /** How many values there are. */
  async size(): Promise<number> {
    const length = decodeReply(integerReply, await this.read(['LLEN', this.name], ONE_KEY), this.name)
    return Math.min(length, this.home.most)
  }

  /** Forgets them all; answers whether there were any. */
  clear(): Promise<boolean> {
    return this.delete()
  }

  get #shape() {
    return this.home.codec.bytes ? ONE_KEY_BYTES : ONE_KEY
  }
}
