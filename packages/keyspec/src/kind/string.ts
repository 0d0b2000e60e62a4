import type { Codec } from '../codec/codec.ts'
import { type Argument, ONE_KEY, ONE_KEY_BYTES, type Reply, type Shape } from '../connection/connection.ts'
import { GET, GET_BYTES, getTogether } from '../connection/pipeline/reads.ts'
import { ArgumentRangeError, ConflictError } from '../errors.ts'
import type { ParamCodecs } from '../param.ts'
import { digits, flag, text } from '../script/argument.ts'
import {
  anyReply,
  bytesReply,
  decodeReply,
  integerReply,
  optionalReply,
  storedReply,
  tupleReply,
} from '../connection/reply.ts'
import { script } from '../script/script.ts'
import { sleep } from '../timer.ts'
import { type Entry, openEntry } from './entry.ts'
import { Many } from './many.ts'
import { type Home, homeOf, Key } from './key.ts'
import { type EntryOptions, type Kind, keySpec } from './kind.ts'
import { ttlFor } from './lifetime.ts'
import { VERBS } from './permission.ts'
import * as lua from './lua.gen.ts'
import { shapeOfSet } from './set-together.ts'
import { changing } from './take-readable.ts'

/** An entry of strings: `keys.session({ userId })` is a `StringKey`. */
export type StringEntry<P extends string, C, T, In> = Entry<P, C, StringKey<T, In>, ManyStrings<T, In>>

/** One value at a key (SET, GET), encoded by a codec. */
export function string<const P extends string, T, In, const C extends ParamCodecs<P> = {}>(
  pattern: P,
  codec: Codec<T, In>,
  options: EntryOptions<P, C>,
): Kind<StringEntry<P, C, T, In>> {
  const spec = keySpec(pattern, 'string', codec, options)
  return {
    keys: [spec],
    together: false,
    commands: VERBS.string,
    open(opening) {
      const home = stringHome(homeOf(spec, opening), codec)
      return openEntry(
        spec,
        opening,
        (name) => new StringKey(home, name),
        (keys, connection) => new ManyStrings(keys, connection),
      )
    },
  }
}

const SET_ONCE = {
  keys: ['key'],
  args: { value: text, ttlMs: digits, get: flag, present: flag },
  lua: lua.setOnce,
  commands: ['GET', 'PTTL', 'SET'],
  reply: anyReply,
} as const
const setOnce = script('kind/set-once', SET_ONCE)
const setOnceBytes = script('kind/set-once', { ...SET_ONCE, bytes: true })

const STORED = optionalReply(storedReply)
const STORED_BYTES = optionalReply(bytesReply)

const REPLACE = {
  keys: ['key'],
  args: { found: flag, seen: text, value: text, ttlMs: digits, renew: text },
  lua: lua.replace,
  commands: ['GET', 'PTTL', 'SET'],
  reply: tupleReply(integerReply, STORED),
} as const
const replace = script('kind/replace', REPLACE)
const replaceBytes = script('kind/replace', { ...REPLACE, bytes: true })

const take = script('kind/take-value', {
  keys: ['key'],
  args: { seen: text },
  lua: lua.takeValue,
  commands: ['DEL', 'GET'],
  bytes: true,
  reply: tupleReply(integerReply, STORED_BYTES),
})

const UPDATE_ATTEMPTS = 100

/** What string keys of one entry share. */
export interface StringHome<T, In> extends Home {
  readonly codec: Codec<T, In>
  /** What follows the value in a SET, unless each key has a lifetime of its own. */
  readonly expiry: readonly string[] | undefined
  readonly shapeOfSet: (value: string | Uint8Array) => Shape
}

/** What string keys of one entry share. */
export function stringHome<T, In, H extends Home>(home: H, codec: Codec<T, In>): H & StringHome<T, In> {
  const { connection, lifetime } = home
  const isForever = lifetime.ttlMs === 'forever'
  const expiry = isForever ? [] : lifetime.jitter > 0 ? undefined : ['PX', String(lifetime.ttlMs)]
  return { ...home, codec, expiry, shapeOfSet: shapeOfSet(connection) }
}

/** A key that holds one value. */
export class StringKey<T, In = T> extends Key {
  declare protected readonly home: StringHome<T, In>

  constructor(home: StringHome<T, In>, name: string) {
    super(home, name)
  }

  /** The value, or `undefined` where there is none; a `DecodeError` when the codec cannot read it. */
  async get(): Promise<T | undefined> {
    const { codec, renewsOnRead, lifetime } = this.home
    const reply = renewsOnRead
      ? await this.send(['GETEX', this.name, 'PX', String(ttlFor(lifetime))], this.#shape)
      : await this.send(['GET', this.name], codec.bytes ? GET_BYTES : GET)
    return this.#value(reply)
  }

  /** Writes the value, with its lifetime. */
  async set(value: In): Promise<void> {
    await this.put(this.stored(value))
  }

  /** Writes the value only if there is none yet; answers whether it did. */
  async setIfAbsent(value: In): Promise<boolean> {
    const stored = this.encode(this.home.codec, value)
    return (await this.send(['SET', this.name, stored, 'NX', ...this.#expiry()], ONE_KEY)) !== null
  }

  /** Writes the value only if there is one already; answers whether it did. */
  async setIfPresent(value: In): Promise<boolean> {
    const stored = this.encode(this.home.codec, value)
    const reply = this.#keepsTtl
      ? await this.#setOnce(stored, { get: false, present: true })
      : await this.send(['SET', this.name, stored, 'XX', ...this.#expiry()], ONE_KEY)
    return reply !== null
  }

  /**
   * Writes the value and answers the one that stood there before, in one step. It is written even where the one before
   * cannot be read (`DecodeError`), as `set` would.
   */
  async getAndSet(value: In): Promise<T | undefined> {
    const stored = this.encode(this.home.codec, value)
    const before = this.#keepsTtl
      ? await this.#setOnce(stored, { get: true, present: false })
      : await this.send(['SET', this.name, stored, 'GET', ...this.#expiry()], this.#shape)
    return this.#value(before)
  }

  /**
   * Deletes the key and answers the value it held, in one step. A value that cannot be read (`DecodeError`) stays as it is,
   * with its time to live: it is read before it is deleted, and deleted only if it is still the same.
   *
   * @throws A `ConflictError` after a hundred attempts, if others never stopped writing; then nothing was deleted.
   */
  async getAndDelete(): Promise<T | undefined> {
    const { codec, connection } = this.home
    if (codec.total === true) return this.#value(await this.send(['GETDEL', this.name], this.#shape))
    // In bytes, as text that is not UTF-8 would not compare equal.
    let seen = decodeReply(STORED_BYTES, await this.send(['GET', this.name], GET_BYTES), this.name)
    for (let attempt = 1; attempt <= UPDATE_ATTEMPTS; attempt += 1) {
      if (seen === undefined) return undefined
      const value = this.decode(codec, seen)
      const [deleted, now] = await take.run(connection, { key: this.name }, { seen })
      if (deleted === 1) return value
      seen = now
      if (attempt > 1) await sleep(Math.random() * Math.min(50, 2 ** attempt))
    }
    throw changing(this.name)
  }

  /**
   * Changes the value by what it is: `change` is given what is there (`undefined` where nothing is) and gives what shall
   * be, or `undefined` to leave it. Written only while it still is what `change` was given; else `change` is asked again
   * with what came between, so that no update is lost. Answers the value that is there now.
   *
   * A `ConflictError` after a hundred attempts: then others never stopped writing, and nothing of this was written. Where
   * the reply is lost, nobody can tell whether it was.
   *
   * @example
   * await keys.session({ userId }).update((session) => session && { ...session, turns: session.turns + 1 })
   */
  async update(change: (value: T | undefined) => In | undefined): Promise<T | undefined> {
    const { codec } = this.home
    let seen = decodeReply(
      STORED,
      await this.send(['GET', this.name], codec.bytes ? GET_BYTES : GET),
      this.name,
    )
    for (let attempt = 1; attempt <= UPDATE_ATTEMPTS; attempt += 1) {
      const before = this.#value(seen ?? null)
      const after = change(before)
      if (after === undefined) return before
      const stored = this.encode(codec, after)
      const [written, now] = await this.#replace(seen, stored)
      if (written === 1) return this.#value(typeof stored === 'string' ? stored : Buffer.from(stored))
      seen = now
      // Those who collide come back one after another; at first at once, since most collisions are of two.
      if (attempt > 1) await sleep(Math.random() * Math.min(50, 2 ** attempt))
    }
    throw new ConflictError(
      `${this.name}: not updated: others wrote it ${UPDATE_ATTEMPTS} times between reading and writing; ` +
        'try again when fewer write it',
      this.name,
    )
  }

  /** @internal The stored form of a value, for a write that comes later. */
  stored(value: In): string | Uint8Array {
    return this.encode(this.home.codec, value)
  }

  /** @internal Writes a stored form. */
  put(stored: string | Uint8Array): Promise<unknown> {
    return this.#keepsTtl
      ? this.#setOnce(stored, { get: false, present: false })
      : this.send(['SET', this.name, stored, ...this.#expiry()], this.home.shapeOfSet(stored))
  }

  /** @internal Whether reading it is GET and nothing else, so that many can be one MGET. */
  get isReadTogether(): boolean {
    return !this.home.renewsOnRead
  }

  /** @internal Whether its codec takes bytes. */
  get isReadAsBytes(): boolean {
    return this.home.codec.bytes
  }

  /** @internal The value in what GET answered. */
  valueIn(reply: Reply): T | undefined {
    return this.#value(reply)
  }

  get #shape(): Shape {
    return this.home.codec.bytes ? ONE_KEY_BYTES : ONE_KEY
  }

  get #keepsTtl(): boolean {
    const { lifetime } = this.home
    return lifetime.ttlMs !== 'forever' && lifetime.renew === 'creation'
  }

  #expiry(): readonly Argument[] {
    return this.home.expiry ?? ['PX', String(ttlFor(this.home.lifetime))]
  }

  #setOnce(value: string | Uint8Array, how: { get: boolean; present: boolean }): Promise<Reply> {
    const { codec, connection, lifetime } = this.home
    const run = (codec.bytes ? setOnceBytes : setOnce).run
    return run(connection, { key: this.name }, { value, ttlMs: ttlFor(lifetime), ...how })
  }

  #replace(
    seen: string | Buffer | undefined,
    value: string | Uint8Array,
  ): Promise<readonly [number, string | Buffer | undefined]> {
    const { codec, connection, lifetime } = this.home
    const run = (codec.bytes ? replaceBytes : replace).run
    const renew = lifetime.ttlMs === 'forever' ? '' : lifetime.renew
    const given = { found: seen !== undefined, seen: seen ?? '', value }
    return run(connection, { key: this.name }, { ...given, ttlMs: ttlFor(lifetime), renew })
  }

  #value(reply: Reply): T | undefined {
    return reply === null ? undefined : this.decode(this.home.codec, reply)
  }
}

/** Many string keys at once. */
export class ManyStrings<T, In = T> extends Many<StringKey<T, In>> {
  /** Their values in the order asked, `undefined` where there is none. */
  async get(): Promise<(T | undefined)[]> {
    const [first] = this.keys
    if (first === undefined) return []
    if (this.connection.cluster || !first.isReadTogether)
      return Promise.all(this.keys.map((key) => key.get()))
    const names = this.keys.map(({ name }) => name)
    const outcomes = await getTogether(this.connection, names, first.isReadAsBytes)
    return outcomes.map((outcome, at) => {
      if ('error' in outcome) throw outcome.error
      return this.keys[at]!.valueIn(outcome.reply)
    })
  }

  /** Writes a value to each, in the order asked; every value is encoded before the first is sent. */
  async set(values: readonly In[]): Promise<void> {
    if (values.length !== this.keys.length) {
      throw new ArgumentRangeError(`${this.keys.length} keys were named, but ${values.length} values given`)
    }
    const stored = this.keys.map((key, index) => key.stored(values[index]!))
    await Promise.all(this.keys.map((key, index) => key.put(stored[index]!)))
  }
}
