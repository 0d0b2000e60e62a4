import { integer } from '../codec/integer.ts'
import type { Reply } from '../connection/connection.ts'
import { DecodeError, EncodeError } from '../errors.ts'
import type { ParamCodecs } from '../param.ts'
import { digits, text } from '../script/argument.ts'
import { optionalReply, textReply } from '../connection/reply.ts'
import { script } from '../script/script.ts'
import { wasRefused } from './collection.ts'
import { type Entry, openEntry } from './entry.ts'
import { homeOf } from './key.ts'
import { type EntryOptions, type Kind, keySpec } from './kind.ts'
import { ttlFor } from './lifetime.ts'
import { VERBS } from './permission.ts'
import * as lua from './lua.gen.ts'
import { ManyStrings, stringHome, StringKey } from './string.ts'
import { renewalOf } from './write.ts'

/** An entry of counters: `keys.visits({ page })` is a `CounterKey`. */
export type CounterEntry<P extends string, C> = Entry<P, C, CounterKey, ManyCounters>

/**
 * A whole number that is counted up and down (INCRBY), within ±(2^53 − 1). A counter that does not exist reads as 0. With
 * `renew: 'creation'` it counts what happened since its first count, for as long as its `ttl`.
 *
 * @example
 * const calls = counter('calls:<hour>', { ttl: '2h', renew: 'creation', params: { hour: param.hour } })
 * await keys.calls({ hour: new Date() }).increment()
 */
export function counter<const P extends string, const C extends ParamCodecs<P> = {}>(
  pattern: P,
  options: EntryOptions<P, C>,
): Kind<CounterEntry<P, C>> {
  const spec = keySpec(pattern, 'string', integer, options)
  return {
    keys: [spec],
    together: false,
    commands: VERBS.counter,
    open(opening) {
      const home = stringHome(homeOf(spec, opening), integer)
      return openEntry(
        spec,
        opening,
        (name) => new CounterKey(home, name),
        (keys, connection) => new ManyCounters(keys, connection),
      )
    },
  }
}

const increment = script('kind/increment', {
  keys: ['key'],
  args: { by: text, ttlMs: digits, renew: text },
  lua: lua.increment,
  commands: ['INCRBY', 'PEXPIRE', 'PTTL'],
  reply: optionalReply(countReply),
  merge: true,
})

const takeCount = script('kind/take-count', {
  keys: ['key'],
  args: {},
  lua: lua.takeCount,
  commands: ['DEL', 'GET'],
  reply: optionalReply(textReply),
})

/** A key that holds a count. */
export class CounterKey extends StringKey<number> {
  /** The count; 0 where there is none (`exists` tells the difference). */
  override async get(): Promise<number> {
    return (await super.get()) ?? 0
  }

  /** Counts up, from 0 where there is no count; answers the new count. Beyond ±(2^53 − 1): an `EncodeError`, nothing changed. */
  async increment(by = 1): Promise<number> {
    const { connection, lifetime } = this.home
    const values = {
      by: this.encode(integer, by, 'the step'),
      ttlMs: ttlFor(lifetime),
      renew: renewalOf(lifetime),
    }
    const count = await increment.run(connection, { key: this.name }, values).catch((error: unknown) => {
      if (wasRefused(error, NOT_COUNTABLE)) throw new DecodeError(this.name, integer.name, error)
      throw error
    })
    if (count === undefined) throw beyond(this.name, by)
    return count
  }

  /** Counts down; answers the new count, which may be negative. */
  async decrement(by = 1): Promise<number> {
    return this.increment(-by)
  }

  /** Deletes the counter and answers what it had counted, or `undefined` where it is absent. What is no count stays. */
  override async getAndDelete(): Promise<number | undefined> {
    const stored = await takeCount.run(this.home.connection, { key: this.name }, {})
    return stored === undefined ? undefined : this.decode(integer, stored)
  }

  /** Deletes the counter and answers what it had counted, in one step: no count is missed or seen twice. */
  async getAndReset(): Promise<number> {
    return (await this.getAndDelete()) ?? 0
  }
}

/** Many counters at once. */
export class ManyCounters extends ManyStrings<number> {
  declare protected readonly keys: readonly CounterKey[]

  /** Their counts in the order asked, 0 where there is none. */
  override get(): Promise<number[]> {
    return Promise.all(this.keys.map((key) => key.get()))
  }
}

/** A count, answered as text. */
export function countReply(reply: Reply): number {
  return Number(textReply(reply))
}

/** What INCRBY and HINCRBY say of a value that is no number of 64 bits, or leaves them. */
export const NOT_COUNTABLE = /not an integer|would overflow/

/** The error for a count that could no longer be told exactly. */
export function beyond(key: string, by: number): EncodeError {
  const cause = new RangeError(`${by < 0 ? by : `+${by}`} would bring it beyond ±(2^53 − 1)`)
  return new EncodeError(key, integer.name, cause)
}
