import { pagesOf } from '../connection/page.ts'
import { integer } from '../codec/integer.ts'
import { type Argument, ONE_KEY, type Reply, type Shape } from '../connection/connection.ts'
import { DecodeError } from '../errors.ts'
import { digits, int, rest, text } from '../script/argument.ts'
import {
  arrayReply,
  decodeReply,
  integerReply,
  listReply,
  optionalReply,
  textReply,
} from '../connection/reply.ts'
import { script } from '../script/script.ts'
import { wasRefused } from './collection.ts'
import { beyond, countReply, NOT_COUNTABLE } from './counter.ts'
import {
  decodeFields,
  encodeFields,
  type FieldInput,
  type FieldInputs,
  type FieldName,
  type Fields,
  type FieldValue,
  type FieldValues,
  type NumberField,
  whereOf,
} from './fields.ts'
import { type Home, Key } from './key.ts'
import { ttlFor } from './lifetime.ts'
import * as lua from './lua.gen.ts'
import { renewalOf, writeWithLifetime } from './write.ts'

/** What hashes of one entry share. */
export interface HashHome extends Home {
  readonly fields: Fields
  /** One key, answered in bytes if a field wants them. */
  readonly shape: Shape
}

const UPDATE = {
  keys: ['key'],
  args: { ttlMs: digits, renew: text, values: rest },
  lua: lua.updateFields,
  commands: ['HGETALL', 'HSET', 'PEXPIRE', 'PTTL'],
  reply: arrayReply,
} as const
const update = script('kind/update-fields', UPDATE)
const updateBytes = script('kind/update-fields', { ...UPDATE, bytes: true })
const UPDATE_IF = {
  keys: ['key'],
  args: { ttlMs: digits, renew: text, expected: int, values: rest },
  lua: lua.updateFieldsIf,
  commands: ['HGET', 'HGETALL', 'HSET', 'PEXPIRE', 'PTTL'],
  reply: optionalReply(arrayReply),
} as const
const updateIf = script('kind/update-fields-if', UPDATE_IF)
const updateIfBytes = script('kind/update-fields-if', { ...UPDATE_IF, bytes: true })
const increment = script('kind/increment-field', {
  keys: ['key'],
  args: { field: text, by: text, back: text, ttlMs: digits, renew: text },
  lua: lua.incrementField,
  commands: ['HINCRBY', 'PEXPIRE', 'PTTL'],
  reply: optionalReply(countReply),
  merge: true,
})

const TEXTS = listReply(textReply)

/** A key that holds fields. */
export class HashKey<F> extends Key {
  declare protected readonly home: HashHome

  constructor(home: HashHome, name: string) {
    super(home, name)
  }

  /** All fields, or `undefined` where there is no hash. */
  async get(): Promise<FieldValues<F> | undefined> {
    const reply = decodeReply(arrayReply, await this.read(['HGETALL', this.name], this.home.shape), this.name)
    return reply.length === 0 ? undefined : this.#values(reply)
  }

  /** One field, or `undefined` where it is absent. */
  async getField<N extends FieldName<F>>(field: N): Promise<FieldValue<F, N> | undefined> {
    const codec = this.home.fields.of(this.name, field)
    const reply = await this.read(['HGET', this.name, field], this.home.shape)
    return reply === null ? undefined : (this.decode(codec, reply, whereOf(field)) as FieldValue<F, N>)
  }

  /** Several fields at once: those of them that are there. */
  async getFields<N extends FieldName<F>>(
    ...fields: readonly N[]
  ): Promise<{ readonly [M in N]?: FieldValue<F, M> }> {
    if (fields.length === 0) return {}
    for (const field of fields) this.home.fields.of(this.name, field)
    const reply = decodeReply(
      arrayReply,
      await this.read(['HMGET', this.name, ...fields], this.home.shape),
      this.name,
    )
    const found = fields.flatMap((field, index) => (reply[index] === null ? [] : [field, reply[index]!]))
    return this.#values(found)
  }

  /** Writes these fields and leaves the others as they are. */
  async set(values: FieldInputs<F>): Promise<void> {
    const encoded = this.#encode(values)
    if (encoded.length > 0) await writeWithLifetime(this.home, this.name, 'HSET', encoded, { group: 2 })
  }

  /** Writes a field only if it is absent; answers whether it did. */
  async setIfAbsent<N extends FieldName<F>>(field: N, value: FieldInput<F, N>): Promise<boolean> {
    const encoded = this.#encode({ [field]: value })
    return (await writeWithLifetime(this.home, this.name, 'HSETNX', encoded, { group: 2 })) === 1
  }

  /** Writes these fields and answers all that the hash then holds, in one step. */
  async update(values: FieldInputs<F>): Promise<FieldValues<F>> {
    const encoded = this.#encode(values)
    if (encoded.length === 0) return (await this.get()) ?? {}
    const { connection, fields, lifetime } = this.home
    const run = (fields.bytes ? updateBytes : update).run
    const how = { ttlMs: ttlFor(lifetime), renew: renewalOf(lifetime), values: encoded }
    return this.#values(await run(connection, { key: this.name }, how))
  }

  /**
   * Writes these fields only if others are stored as the `expected` ones would be, and answers all that the hash then
   * holds, in one step; `undefined` where they are not, and nothing is written. A state machine moves on with it.
   *
   * @example
   * await run.updateIf({ status: 'running' }, { status: 'completed' })
   */
  async updateIf(expected: FieldInputs<F>, values: FieldInputs<F>): Promise<FieldValues<F> | undefined> {
    const { connection, fields, lifetime } = this.home
    const before = this.#encode(expected)
    const how = { ttlMs: ttlFor(lifetime), renew: renewalOf(lifetime), expected: before.length }
    const run = (fields.bytes ? updateIfBytes : updateIf).run
    const reply = await run(
      connection,
      { key: this.name },
      { ...how, values: [...before, ...this.#encode(values)] },
    )
    return reply === undefined ? undefined : this.#values(reply)
  }

  /**
   * Counts a field up by a whole number, from 0 where it is absent; answers the new count. Beyond ±(2^53 − 1): an
   * `EncodeError`, nothing changed.
   */
  async increment(field: NumberField<F>, by = 1): Promise<number> {
    const { connection, fields, lifetime } = this.home
    const codec = fields.of(this.name, field)
    const values = {
      field: field as string,
      by: this.encode(integer, by, 'the step'),
      back: String(-by),
      ttlMs: ttlFor(lifetime),
      renew: renewalOf(lifetime),
    }
    const count = await increment.run(connection, { key: this.name }, values).catch((error: unknown) => {
      if (!wasRefused(error, NOT_COUNTABLE)) throw error
      throw new DecodeError(this.name, `${codec.name} at ${whereOf(field)}, or not a whole number`, error)
    })
    if (count === undefined) throw beyond(this.name, by)
    return count
  }

  /** Removes these fields, answers how many there were. With the last field the key itself is gone. */
  async remove(...fields: readonly FieldName<F>[]): Promise<number> {
    if (fields.length === 0) return 0
    for (const field of fields) this.home.fields.of(this.name, field)
    return decodeReply(integerReply, await this.send(['HDEL', this.name, ...fields], ONE_KEY), this.name)
  }

  /** Whether a field is there. */
  async has(field: FieldName<F>): Promise<boolean> {
    return (await this.read(['HEXISTS', this.name, field], ONE_KEY)) === 1
  }

  /** How many fields there are, undeclared ones included. */
  async size(): Promise<number> {
    return decodeReply(integerReply, await this.read(['HLEN', this.name], ONE_KEY), this.name)
  }

  /** The names of the fields that are there. */
  async fields(): Promise<FieldName<F>[]> {
    const names = decodeReply(TEXTS, await this.read(['HKEYS', this.name], ONE_KEY), this.name)
    return names.filter((name) => this.home.fields.at(name) !== undefined) as FieldName<F>[]
  }

  /**
   * Field by field, found with HSCAN in batches of about `count`: for hashes too large to be read at once. A field that
   * comes or goes meanwhile may be missed, and one may be shown twice.
   */
  async *scan(options: { readonly count?: number } = {}): AsyncGenerator<HashField<F, FieldName<F>>> {
    // In the body, since a generator's parameters are read when it is called.
    const { count = 512 } = options
    const ask = (cursor: string) =>
      this.read(['HSCAN', this.name, cursor, 'COUNT', String(count)], this.home.shape)
    for await (const flat of pagesOf(arrayReply, ask, 'HSCAN', this.name)) {
      for (const [field, value] of Object.entries(this.#values(flat))) {
        yield { field, value } as HashField<F, FieldName<F>>
      }
    }
  }

  #encode(values: object): Argument[] {
    return encodeFields(
      this.name,
      this.home.fields,
      values as Record<string, unknown>,
      (codec, value, where) => this.encode(codec, value, where),
    )
  }

  #values(flat: readonly Reply[]): FieldValues<F> {
    return decodeFields(this.home.fields, flat, (codec, stored, where) =>
      this.decode(codec, stored, where),
    ) as FieldValues<F>
  }
}

/** A field and its value, as `scan` shows them. */
export type HashField<F, N extends FieldName<F>> = N extends unknown
  ? { readonly field: N; readonly value: FieldValue<F, N> }
  : never
