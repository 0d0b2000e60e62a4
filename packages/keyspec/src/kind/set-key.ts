import { pagesOf } from '../connection/page.ts'
import { ALL_KEYS, ALL_KEYS_BYTES, ONE_KEY, ONE_KEY_BYTES } from '../connection/connection.ts'
import { arrayReply, booleanReply, decodeReply, integerReply, listReply } from '../connection/reply.ts'
import { Collection, proveOneSlot } from './collection.ts'
import { amount, takeReadable, takingMembers } from './take-readable.ts'

/** A key that holds a set. */
export class SetKey<T, In = T> extends Collection<T, In> {
  /**
   * Adds values, any number in one step; answers how many were new. The step holds the server for some milliseconds a
   * thousand: add large sets in several calls.
   */
  async add(...values: readonly In[]): Promise<number> {
    if (values.length === 0) return 0
    return decodeReply(
      integerReply,
      await this.write('SADD', this.encodeAll(values), { sum: true }),
      this.name,
    )
  }

  /** Removes values; answers how many there were. With the last element the key itself is gone. */
  async remove(...values: readonly In[]): Promise<number> {
    if (values.length === 0) return 0
    return decodeReply(
      integerReply,
      await this.send(['SREM', this.name, ...this.encodeAll(values)], ONE_KEY),
      this.name,
    )
  }

  /** Whether a value is there. */
  async has(value: In): Promise<boolean> {
    return (await this.read(['SISMEMBER', this.name, ...this.encodeAll([value])], ONE_KEY)) === 1
  }

  /** Whether each of these values is there, in the order asked. */
  async hasMany(values: readonly In[]): Promise<boolean[]> {
    if (values.length === 0) return []
    const reply = await this.read(['SMISMEMBER', this.name, ...this.encodeAll(values)], ONE_KEY)
    return decodeReply(listReply(booleanReply), reply, this.name)
  }

  /** All elements, in no order, read at once: `scan` reads large sets in batches. */
  async members(): Promise<T[]> {
    return this.decodeAll(await this.read(['SMEMBERS', this.name], this.home.shape))
  }

  /** How many elements there are. */
  async size(): Promise<number> {
    return decodeReply(integerReply, await this.read(['SCARD', this.name], ONE_KEY), this.name)
  }

  /** An element at random, or up to `count` different ones; they stay. */
  random(): Promise<T | undefined>
  random(count: number): Promise<T[]>
  async random(count?: number): Promise<T | undefined | T[]> {
    const found = this.decodeAll(
      await this.read(['SRANDMEMBER', this.name, amount(count ?? 1)], this.home.shape),
    )
    return count === undefined ? found[0] : found
  }

  /** Takes an element at random, or up to `count`. If one cannot be read (`DecodeError`) all stay. */
  pop(): Promise<T | undefined>
  pop(count: number): Promise<T[]>
  async pop(count?: number): Promise<T | undefined | T[]> {
    const taken = await this.#pop(count ?? 1)
    return count === undefined ? taken[0] : taken
  }

  /**
   * Element by element, found with SSCAN in batches of about `count`: for sets too large to be read at once. An element
   * that comes or goes meanwhile may be missed, and one may be shown twice.
   */
  async *scan(options: { readonly count?: number } = {}): AsyncGenerator<T> {
    // In the body, since a generator's parameters are read when it is called.
    const { count = 512 } = options
    const ask = (cursor: string) =>
      this.read(['SSCAN', this.name, cursor, 'COUNT', String(count)], this.home.shape)
    for await (const found of pagesOf(arrayReply, ask, 'SSCAN', this.name)) {
      yield* this.decodeAll(found)
    }
  }

  async #pop(count: number): Promise<T[]> {
    const { codec, connection, shape } = this.home
    const many = amount(count)
    if (count === 0) return []
    if (codec.total === true) return this.decodeAll(await this.send(['SPOP', this.name, many], shape))
    const taking = takingMembers(connection, this.name, count, (most) =>
      this.send(['SRANDMEMBER', this.name, String(most)], ONE_KEY_BYTES),
    )
    return this.decodeAll(
      await takeReadable(this.name, count, taking, (stored) => this.decode(codec, stored)),
    )
  }

  /** @internal SUNION, SINTER or SDIFF of this set and others. */
  combine(command: string, others: readonly SetKey<T, In>[]): Promise<T[]> {
    const names = [this.name, ...others.map(({ name }) => name)]
    proveOneSlot(this.home, command, names)
    const reply = this.read([command, ...names], this.home.codec.bytes ? ALL_KEYS_BYTES : ALL_KEYS)
    const renewed = this.home.renewsOnRead ? others.map((other) => other.renew().catch(() => false)) : []
    return Promise.all([reply, ...renewed]).then(([elements]) => this.decodeAll(elements))
  }
}
