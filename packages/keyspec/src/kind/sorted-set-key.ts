import { pagesOf } from '../connection/page.ts'
import { ONE_KEY, ONE_KEY_BYTES, type Reply } from '../connection/connection.ts'
import { arrayReply, decodeReply, integerReply, listReply, optionalReply } from '../connection/reply.ts'
import { ArgumentRangeError, EncodeError } from '../errors.ts'
import { Collection, wasRefused } from './collection.ts'
import { boundsOf, readScore, type ScoreRange, writeScore } from './score.ts'
import { amount, takeReadable, takingEnds } from './take-readable.ts'

/** An element of a sorted set, with its score. */
export interface ScoredElement<T> {
  readonly value: T
  readonly score: number
}

/** How `add` treats elements that are there already. */
export interface AddOptions {
  /**
   * `'absent'` adds and changes none; `'present'` changes and adds none; `'greater'` and `'less'` change a score in that
   * direction only, and add what is absent.
   */
  readonly onlyIf?: 'absent' | 'present' | 'greater' | 'less'
}

/** How a range is read. */
export interface RangeOptions {
  /** From the highest score down; ranks then count from there. */
  readonly reverse?: boolean
}

/** Which elements of a range of scores: `limit` of them, after passing over `offset`. */
export interface ScoreRangeOptions extends ScoreRange, RangeOptions {
  readonly offset?: number
  readonly limit?: number
}

const SCORES = listReply(optionalReply(readScore))

const CONDITION = { absent: 'NX', present: 'XX', greater: 'GT', less: 'LT' } as const

/** A key that holds a sorted set. Ranks count from the lowest score, and from the highest where negative: −1 is the last. */
export class SortedSetKey<T, In = T> extends Collection<T, In> {
  /** Adds elements or gives them new scores, any number in one step; answers how many were added or got another score. */
  async add(
    elements: ScoredElement<In> | readonly ScoredElement<In>[],
    { onlyIf }: AddOptions = {},
  ): Promise<number> {
    const all = Array.isArray(elements)
      ? (elements as readonly ScoredElement<In>[])
      : [elements as ScoredElement<In>]
    if (all.length === 0) return 0
    const stored = all.flatMap(({ value, score }) => [this.#score(score), ...this.encodeAll([value])])
    const lead = onlyIf === undefined ? ['CH'] : [CONDITION[onlyIf], 'CH']
    return decodeReply(
      integerReply,
      await this.write('ZADD', stored, { lead, group: 2, sum: true }),
      this.name,
    )
  }

  /** Adds to an element's score, from 0 where it is absent; answers the new score. */
  async increment(value: In, by = 1): Promise<number> {
    const stored = [this.#score(by), ...this.encodeAll([value])]
    try {
      return readScore(await this.write('ZINCRBY', stored, { group: 2 }))
    } catch (error) {
      if (wasRefused(error, /not a number \(NaN\)/)) throw new EncodeError(this.name, 'a score', error)
      throw error
    }
  }

  /** The score of an element, or `undefined` where it is absent. */
  async score(value: In): Promise<number | undefined> {
    const reply = await this.read(['ZSCORE', this.name, ...this.encodeAll([value])], ONE_KEY)
    return reply === null ? undefined : readScore(reply)
  }

  /** The score of each of these values in the order asked, `undefined` where it is absent. */
  async scores(values: readonly In[]): Promise<(number | undefined)[]> {
    if (values.length === 0) return []
    const reply = await this.read(['ZMSCORE', this.name, ...this.encodeAll(values)], ONE_KEY)
    return decodeReply(SCORES, reply, this.name)
  }

  /** How many elements stand before this one, or `undefined` where it is absent. */
  async rank(value: In, { reverse = false }: RangeOptions = {}): Promise<number | undefined> {
    const command = reverse ? 'ZREVRANK' : 'ZRANK'
    const reply = await this.read([command, this.name, ...this.encodeAll([value])], ONE_KEY)
    return decodeReply(optionalReply(integerReply), reply, this.name)
  }

  /** The elements from one rank to another, both included; all of them unless said otherwise. */
  async range(from = 0, to = -1, { reverse = false }: RangeOptions = {}): Promise<ScoredElement<T>[]> {
    const direction = reverse ? ['REV'] : []
    const command = ['ZRANGE', this.name, whole(from), whole(to), ...direction, 'WITHSCORES']
    return this.#scored(await this.read(command, this.home.shape))
  }

  /** The elements of a range of scores: `{ max: now, limit: 10 }`. */
  async rangeByScore(options: ScoreRangeOptions = {}): Promise<ScoredElement<T>[]> {
    const { reverse = false, offset = 0, limit = -1 } = options
    const bounds = boundsOf(options)
    const direction = reverse ? [...bounds.toReversed(), 'BYSCORE', 'REV'] : [...bounds, 'BYSCORE']
    const command = ['ZRANGE', this.name, ...direction, 'LIMIT', whole(offset), whole(limit), 'WITHSCORES']
    return this.#scored(await this.read(command, this.home.shape))
  }

  /** How many elements there are in a range of scores. */
  async count(range: ScoreRange = {}): Promise<number> {
    return decodeReply(
      integerReply,
      await this.read(['ZCOUNT', this.name, ...boundsOf(range)], ONE_KEY),
      this.name,
    )
  }

  /** How many elements there are. */
  async size(): Promise<number> {
    return decodeReply(integerReply, await this.read(['ZCARD', this.name], ONE_KEY), this.name)
  }

  /** Removes values; answers how many there were. With the last element the key itself is gone. */
  async remove(...values: readonly In[]): Promise<number> {
    if (values.length === 0) return 0
    return decodeReply(
      integerReply,
      await this.send(['ZREM', this.name, ...this.encodeAll(values)], ONE_KEY),
      this.name,
    )
  }

  /** Removes the elements from one rank to another, both included; answers how many. */
  async removeRange(from: number, to: number): Promise<number> {
    return decodeReply(
      integerReply,
      await this.send(['ZREMRANGEBYRANK', this.name, whole(from), whole(to)], ONE_KEY),
      this.name,
    )
  }

  /** Removes the elements of a range of scores; answers how many. */
  async removeByScore(range: ScoreRange): Promise<number> {
    return decodeReply(
      integerReply,
      await this.send(['ZREMRANGEBYSCORE', this.name, ...boundsOf(range)], ONE_KEY),
      this.name,
    )
  }

  /** Takes the element with the lowest score, or up to `count`. If one cannot be read (`DecodeError`) all stay. */
  popLowest(): Promise<ScoredElement<T> | undefined>
  popLowest(count: number): Promise<ScoredElement<T>[]>
  async popLowest(count?: number): Promise<ScoredElement<T> | undefined | ScoredElement<T>[]> {
    const popped = await this.#pop('ZPOPMIN', count ?? 1)
    return count === undefined ? popped[0] : popped
  }

  /** Takes the element with the highest score, or up to `count`. If one cannot be read (`DecodeError`) all stay. */
  popHighest(): Promise<ScoredElement<T> | undefined>
  popHighest(count: number): Promise<ScoredElement<T>[]>
  async popHighest(count?: number): Promise<ScoredElement<T> | undefined | ScoredElement<T>[]> {
    const popped = await this.#pop('ZPOPMAX', count ?? 1)
    return count === undefined ? popped[0] : popped
  }

  /**
   * Element by element in no order, found with ZSCAN in batches of about `count`. An element that comes or goes meanwhile
   * may be missed, and one may be shown twice.
   */
  async *scan(options: { readonly count?: number } = {}): AsyncGenerator<ScoredElement<T>> {
    // In the body, since a generator's parameters are read when it is called.
    const { count = 512 } = options
    const ask = (cursor: string) =>
      this.read(['ZSCAN', this.name, cursor, 'COUNT', whole(count)], this.home.shape)
    for await (const found of pagesOf(arrayReply, ask, 'ZSCAN', this.name)) {
      yield* this.#scored(found)
    }
  }

  async #pop(command: 'ZPOPMIN' | 'ZPOPMAX', count: number): Promise<ScoredElement<T>[]> {
    const { codec, connection, shape } = this.home
    const many = amount(count)
    if (count === 0) return []
    if (codec.total === true) return this.#scored(await this.send([command, this.name, many], shape))
    const peek = command === 'ZPOPMIN' ? 'ZRANGE' : 'ZREVRANGE'
    const taking = takingEnds(connection, this.name, count, { peek, pop: command }, (from, to) =>
      this.send([peek, this.name, from, to], ONE_KEY_BYTES),
    )
    return this.#scored(await takeReadable(this.name, count, taking, (stored) => this.decode(codec, stored)))
  }

  #score(score: number): string {
    try {
      return writeScore(score)
    } catch (error) {
      throw new EncodeError(this.name, 'a score', error)
    }
  }

  #scored(flat: Reply): ScoredElement<T>[] {
    const replies = decodeReply(arrayReply, flat, this.name)
    const found: ScoredElement<T>[] = []
    for (let at = 0; at < replies.length; at += 2) {
      found.push({
        value: this.decode(this.home.codec, replies[at]!),
        score: readScore(replies[at + 1]!),
      })
    }
    return found
  }
}

function whole(value: number): string {
  if (!Number.isSafeInteger(value))
    throw new ArgumentRangeError(`${String(value)} is not a rank or a count: give a whole number`)
  return String(value)
}
