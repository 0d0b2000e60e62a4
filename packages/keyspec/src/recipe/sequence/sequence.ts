import { integer } from '../../codec/integer.ts'
import type { Connection } from '../../connection/connection.ts'
import { GET } from '../../connection/pipeline/reads.ts'
import type { Replication } from '../../connection/replication.ts'
import { ArgumentRangeError, DecodeError, EncodeError } from '../../errors.ts'
import { wasRefused } from '../../kind/collection.ts'
import { NOT_COUNTABLE } from '../../kind/counter.ts'
import { type Entry, openEntry } from '../../kind/entry.ts'
import { type Home, homeOf, Key } from '../../kind/key.ts'
import { type EntryOptions, type Kind, keySpec } from '../../kind/kind.ts'
import type { ParamCodecs } from '../../param.ts'
import { int, text } from '../../script/argument.ts'
import { integerReply, optionalReply, textReply, tupleReply } from '../../connection/reply.ts'
import { script } from '../../script/script.ts'
import { LIFETIME, lifetimeNow } from '../lifetime.ts'
import { acknowledging, type ReplicatedOptions, replicationOf } from '../replicated.ts'
import * as lua from './lua.gen.ts'

/** An entry of sequences: `keys.lastJobId()` is a `SequenceKey`; with `replicated`, a `ReplicatedSequenceKey`. */
export type SequenceEntry<P extends string, C, R = undefined> = Entry<
  P,
  C,
  R extends ReplicatedOptions ? ReplicatedSequenceKey : SequenceKey
>

/** Numbers taken together: `first`, `last` and all between them. */
export interface SequenceRange {
  readonly first: number
  readonly last: number
}

/** Numbers taken together, and how many replicas acknowledged them: fewer than declared where they did not answer in time. */
export interface ReplicatedSequenceRange extends SequenceRange {
  readonly replicas: number
}

/** The options of a sequence, beside its lifetime. */
export interface SequenceOptions<R> {
  /** Replicas acknowledge each number before it is returned; needs `replicating` at `open`. */
  readonly replicated?: R
}

/**
 * Whole numbers 1, 2, 3 … that are handed out once each, up to 2^53 − 1; the key holds the last. A reply that is lost
 * leaves a gap, never a repetition. While Redis cannot be reached its verbs reject with the client's error.
 *
 * A number repeats only if the key goes back: a server that evicts it, or that restarts or fails over without the last
 * writes. `replicated` makes the latter rarer, and its verbs say how many replicas have what they return.
 *
 * @example
 * lastJobId: sequence('last_job_id', { ttl: 'forever', reason: 'ids never repeat' })
 * const id = await keys.lastJobId().next()
 */
export function sequence<
  const P extends string,
  const C extends ParamCodecs<P> = {},
  const R extends ReplicatedOptions | undefined = undefined,
>(pattern: P, options: EntryOptions<P, C> & SequenceOptions<R>): Kind<SequenceEntry<P, C, R>> {
  const spec = keySpec(pattern, 'string', integer, { evictable: false, ...options })
  return {
    keys: [spec],
    together: false,
    commands: [...next.commands, ...atLeast.commands, ...acknowledging(options.replicated)],
    layout: 1,
    open(opening) {
      const home = homeOf(spec, opening)
      const replication = replicationOf(opening, options.replicated)
      const keyAt = (name: string) =>
        replication === undefined
          ? new SequenceKey(home, name)
          : new ReplicatedSequenceKey({ ...home, replication }, name)
      return openEntry(spec, opening, keyAt) as SequenceEntry<P, C, R>
    },
  }
}

const next = script('sequence/next', {
  keys: ['key'],
  args: { ...LIFETIME, count: int },
  lua: lua.next,
  commands: ['INCRBY', 'PEXPIRE', 'PTTL'],
  reply: optionalReply(textReply),
  merge: true,
})

const atLeast = script('sequence/at-least', {
  keys: ['key'],
  args: { ...LIFETIME, value: text },
  lua: lua.atLeast,
  commands: ['GET', 'PTTL', 'SET'],
  reply: tupleReply(integerReply, textReply),
})

/** What the scripts answer where the key holds no whole number. */
const NO_NUMBER = new RegExp(`${NOT_COUNTABLE.source}|does not hold a whole number`)

interface Raised {
  readonly raised: boolean
  readonly last: number
}

abstract class LastNumber extends Key {
  /** Returns the last number handed out, or `undefined` if there is none. */
  async current(): Promise<number | undefined> {
    const reply = await this.read(['GET', this.name], GET)
    return reply === null ? undefined : this.decode(integer, reply)
  }

  protected async issue(count: number, over: Connection): Promise<SequenceRange> {
    if (!Number.isSafeInteger(count) || count < 1)
      throw new ArgumentRangeError(
        `${this.name}: ${count} numbers cannot be taken, only a whole number from 1`,
      )
    const given = { ...lifetimeNow(this.home.lifetime), count }
    const taken = await next
      .run(over, { key: this.name }, given)
      .catch((error: unknown) => this.#unread(error))
    if (taken === undefined)
      throw new EncodeError(this.name, integer.name, new RangeError('the sequence ends at 2^53 − 1'))
    const last = this.decode(integer, taken)
    return { first: last - count + 1, last }
  }

  protected async raise(value: number, over: Connection): Promise<Raised> {
    const given = { ...lifetimeNow(this.home.lifetime), value: this.encode(integer, value) }
    const [raised, last] = await atLeast
      .run(over, { key: this.name }, given)
      .catch((error: unknown) => this.#unread(error))
    return { raised: raised === 1, last: this.decode(integer, last) }
  }

  #unread(error: unknown): never {
    if (wasRefused(error, NO_NUMBER)) throw new DecodeError(this.name, integer.name, error)
    throw error
  }
}

/** A key that holds the last number handed out. */
export class SequenceKey extends LastNumber {
  /** Takes the next number, which no other caller gets. */
  async next(): Promise<number> {
    return (await this.nextMany(1)).last
  }

  /** Takes the next `count` numbers, which no other caller gets. */
  nextMany(count: number): Promise<SequenceRange> {
    return this.issue(count, this.home.connection)
  }

  /** Raises the sequence so that it goes on after `value`, never lowers it. Returns where it stands now. For imports. */
  async atLeast(value: number): Promise<number> {
    return (await this.raise(value, this.home.connection)).last
  }
}

interface ReplicatedHome extends Home {
  readonly replication: Replication
}

/**
 * A key that holds the last number handed out, whose verbs wait for replicas. They take turns with all that goes over the
 * second connection, so a sequence gives about one number (or one `nextMany`) in a round trip to the replica.
 */
export class ReplicatedSequenceKey extends LastNumber {
  declare protected readonly home: ReplicatedHome

  constructor(home: ReplicatedHome, name: string) {
    super(home, name)
  }

  /** Takes the next number, as `first` and `last`. No other caller gets it, unless a failover loses it. */
  next(): Promise<ReplicatedSequenceRange> {
    return this.nextMany(1)
  }

  /** Takes the next `count` numbers. No other caller gets them, unless a failover loses them. */
  async nextMany(count: number): Promise<ReplicatedSequenceRange> {
    const { value, replicas } = await this.home.replication.write((over) => this.issue(count, over))
    return { ...value, replicas }
  }

  /**
   * Raises the sequence so that it goes on after `value`, never lowers it; `last` is where it stands now. For imports. If it
   * stands there already, nothing is written, and `replicas` is 0: nobody knows how many replicas have it.
   */
  async atLeast(value: number): Promise<{ readonly last: number; readonly replicas: number }> {
    const raise = (over: Connection) => this.raise(value, over)
    const { value: done, replicas } = await this.home.replication.write(raise, ({ raised }) => raised)
    return { last: done.last, replicas }
  }
}
