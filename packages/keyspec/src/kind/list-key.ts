import { ONE_KEY, ONE_KEY_BYTES } from '../connection/connection.ts'
import { digits, text } from '../script/argument.ts'
import { anyReply, decodeReply, integerReply, optionalReply } from '../connection/reply.ts'
import { script } from '../script/script.ts'
import { Collection, proveOneSlot, wasRefused } from './collection.ts'
import { ttlFor } from './lifetime.ts'
import * as lua from './lua.gen.ts'
import { amount, takeReadable, takingEnds } from './take-readable.ts'
import { renewalOf } from './write.ts'
import { ArgumentRangeError, ArgumentTypeError } from '../errors.ts'

/** An end of a list: the front has index 0, the back −1. */
export type ListEnd = 'front' | 'back'

const SIDE = { front: 'LEFT', back: 'RIGHT' } as const

const MOVE = {
  keys: ['source', 'destination'],
  args: { from: text, to: text, ttlMs: digits, renew: text },
  lua: lua.moveElement,
  commands: ['LMOVE', 'PEXPIRE', 'PTTL'],
  reply: anyReply,
} as const
const move = script('kind/move-element', MOVE)
const moveBytes = script('kind/move-element', { ...MOVE, bytes: true })

/** A key that holds a list. Indexes count from the front, and from the back where negative: −1 is the last. */
export class ListKey<T, In = T> extends Collection<T, In> {
  /**
   * Pushes values to the front one after another, in one step: of `('a', 'b')`, `b` comes to stand first. Answers the
   * length.
   */
  async pushFront(...values: readonly In[]): Promise<number> {
    return this.#push('LPUSH', values)
  }

  /** Pushes values to the back in their order, in one step. Answers the length. */
  async pushBack(...values: readonly In[]): Promise<number> {
    return this.#push('RPUSH', values)
  }

  /**
   * Takes the first element, or up to `count`. If one cannot be read (`DecodeError`) all stay; `trim(1, -1)` drops it.
   */
  popFront(): Promise<T | undefined>
  popFront(count: number): Promise<T[]>
  async popFront(count?: number): Promise<T | undefined | T[]> {
    const popped = await this.#pop('front', count ?? 1)
    return count === undefined ? popped[0] : popped
  }

  /** Takes the last element, or up to `count`, the last first. If one cannot be read (`DecodeError`) all stay. */
  popBack(): Promise<T | undefined>
  popBack(count: number): Promise<T[]>
  async popBack(count?: number): Promise<T | undefined | T[]> {
    const popped = await this.#pop('back', count ?? 1)
    return count === undefined ? popped[0] : popped
  }

  /** The elements from one index to another, both included; all of them unless said otherwise. */
  async range(from = 0, to = -1): Promise<T[]> {
    const reply = await this.read(['LRANGE', this.name, index(from), index(to)], this.home.shape)
    return this.decodeAll(reply, from)
  }

  /** The element at an index, or `undefined` where there is none. */
  async at(place: number): Promise<T | undefined> {
    const reply = await this.read(['LINDEX', this.name, index(place)], this.home.shape)
    return reply === null ? undefined : this.decode(this.home.codec, reply, `element ${place}`)
  }

  /** The index of the first element that is stored as this value would be, or `undefined`. */
  async indexOf(value: In): Promise<number | undefined> {
    const stored = this.encode(this.home.codec, value)
    return decodeReply(
      optionalReply(integerReply),
      await this.read(['LPOS', this.name, stored], ONE_KEY),
      this.name,
    )
  }

  /** How many elements there are. */
  async length(): Promise<number> {
    return decodeReply(integerReply, await this.read(['LLEN', this.name], ONE_KEY), this.name)
  }

  /** Replaces the element at an index; answers whether there was one. */
  async setAt(place: number, value: In): Promise<boolean> {
    const stored = this.encode(this.home.codec, value)
    try {
      await this.write('LSET', [index(place), stored], { group: 2 })
      return true
    } catch (error) {
      if (wasRefused(error, /no such key|index out of range/)) return false
      throw error
    }
  }

  /** Inserts a value next to the first element stored as `before` or `after` is; answers whether there was one. */
  async insert(
    value: In,
    place: { readonly before: In; readonly after?: never } | { readonly after: In; readonly before?: never },
  ): Promise<boolean> {
    const { codec } = this.home
    const where = 'before' in place ? 'BEFORE' : 'AFTER'
    const pivot = this.encode(codec, 'before' in place ? place.before : place.after)
    const reply = await this.write('LINSERT', [where, pivot, this.encode(codec, value)], { group: 3 })
    return decodeReply(integerReply, reply, this.name) > 0
  }

  /** Keeps the elements from one index to another, both included, and drops the others. */
  async trim(from: number, to: number): Promise<void> {
    await this.send(['LTRIM', this.name, index(from), index(to)], ONE_KEY)
  }

  /**
   * Removes the elements that are stored as this value would be; answers how many. All of them, or the first `count`, or
   * with a negative count the last.
   */
  async remove(value: In, { count = 0 }: { readonly count?: number } = {}): Promise<number> {
    const stored = this.encode(this.home.codec, value)
    return decodeReply(
      integerReply,
      await this.send(['LREM', this.name, index(count), stored], ONE_KEY),
      this.name,
    )
  }

  /**
   * Moves an element from one end to another, of this list or of another of the same entry, in one step; answers it. On a
   * cluster both must live in one slot.
   */
  async move(from: ListEnd, to: ListEnd, destination: ListKey<T, In> = this): Promise<T | undefined> {
    const { codec, connection, lifetime } = this.home
    if (destination.home !== this.home) {
      throw new ArgumentTypeError(`${this.name}: an element can be moved to a list of the same entry only`)
    }
    proveOneSlot(this.home, 'LMOVE', [this.name, destination.name])
    const reply = await (codec.bytes ? moveBytes : move).run(
      connection,
      { source: this.name, destination: destination.name },
      { from: SIDE[from], to: SIDE[to], ttlMs: ttlFor(lifetime), renew: renewalOf(lifetime) },
    )
    return this.decodeOne(reply)
  }

  /**
   * Element by element from the front, read in batches of `count`. Where the list is pushed to, popped or trimmed at the
   * front meanwhile, elements may be shown twice or missed.
   */
  async *scan(options: { readonly count?: number } = {}): AsyncGenerator<T> {
    // In the body, since a generator's parameters are read when it is called.
    const { count = 512 } = options
    for (let from = 0; ; from += count) {
      const batch = await this.range(from, from + count - 1)
      yield* batch
      if (batch.length < count) return
    }
  }

  async #push(command: 'LPUSH' | 'RPUSH', values: readonly In[]): Promise<number> {
    if (values.length === 0) return this.length()
    return decodeReply(integerReply, await this.write(command, this.encodeAll(values)), this.name)
  }

  async #pop(end: ListEnd, count: number): Promise<T[]> {
    if (count === 0) return []
    const { codec, connection, shape } = this.home
    const pop = end === 'front' ? 'LPOP' : 'RPOP'
    const many = amount(count)
    if (codec.total === true) return this.decodeAll(await this.send([pop, this.name, many], shape))
    const how = { peek: 'LRANGE', pop, back: end === 'back' }
    const taking = takingEnds(connection, this.name, count, how, (from, to) =>
      this.send(['LRANGE', this.name, from, to], ONE_KEY_BYTES),
    )
    return this.decodeAll(
      await takeReadable(this.name, count, taking, (stored) => this.decode(codec, stored)),
    )
  }
}

function index(place: number): string {
  if (!Number.isSafeInteger(place))
    throw new ArgumentRangeError(`${String(place)} is not an index or a count: give a whole number`)
  return String(place)
}
