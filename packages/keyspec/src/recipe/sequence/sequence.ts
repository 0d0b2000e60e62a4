import { integer } from '../../codec/integer.ts'
import { GET } from '../../connection/reads.ts'
import { EncodeError } from '../../errors.ts'
import { type Entry, openEntry } from '../../kind/entry.ts'
import { homeOf, Key } from '../../kind/key.ts'
import { type EntryOptions, type Kind, keySpec } from '../../kind/kind.ts'
import type { ParamCodecs } from '../../param.ts'
import { int, text } from '../../script/argument.ts'
import { optionalReply, textReply } from '../../script/reply.ts'
import { script } from '../../script/script.ts'
import { LIFETIME, lifetimeNow } from '../lifetime.ts'
import * as lua from './lua.gen.ts'

/** An entry of sequences: `keys.lastJobId()` is a `SequenceKey`. */
export type SequenceEntry<P extends string, C> = Entry<P, C, SequenceKey>

/** Numbers taken together: `first`, `last` and all between them. */
export interface Issued {
  readonly first: number
  readonly last: number
}

/**
 * Whole numbers 1, 2, 3 … that are handed out once each, up to 2^53 − 1; the key holds the last. A reply that is lost
 * leaves a gap, never a repetition. While Redis cannot be reached its verbs reject with the client's error.
 *
 * @example
 * lastJobId: sequence('last_job_id', { ttl: 'forever', because: 'ids never repeat' })
 * const id = await keys.lastJobId().next()
 */
export function sequence<const P extends string, const C extends ParamCodecs<P> = {}>(
  pattern: P,
  options: EntryOptions<P, C>,
): Kind<SequenceEntry<P, C>> {
  const spec = keySpec(pattern, 'string', integer, options)
  return {
    keys: [spec],
    together: false,
    open(opening) {
      const home = homeOf(spec, opening)
      return openEntry(spec, opening, (name) => new SequenceKey(home, name))
    },
  }
}

const next = script('sequence/next', {
  keys: ['key'],
  args: { ...LIFETIME, count: int },
  lua: lua.next,
  reply: optionalReply(textReply),
  merge: true,
})

const atLeast = script('sequence/at-least', {
  keys: ['key'],
  args: { ...LIFETIME, value: text },
  lua: lua.atLeast,
  reply: textReply,
})

/** A key that holds the last number handed out. */
export class SequenceKey extends Key {
  /** The next number, which nobody else gets. */
  async next(): Promise<number> {
    return (await this.nextMany(1)).last
  }

  /** The next `count` numbers, which nobody else gets. */
  async nextMany(count: number): Promise<Issued> {
    if (!Number.isSafeInteger(count) || count < 1)
      throw new RangeError(`${this.name}: ${count} numbers cannot be taken, only a whole number from 1`)
    const { connection, lifetime } = this.home
    const taken = await next.run(connection, { key: this.name }, { ...lifetimeNow(lifetime), count })
    if (taken === undefined)
      throw new EncodeError(this.name, integer.name, new RangeError('the sequence ends at 2^53 − 1'))
    const last = this.decode(integer, taken)
    return { first: last - count + 1, last }
  }

  /** The last number handed out, or `undefined` where none was. */
  async current(): Promise<number | undefined> {
    const reply = await this.read(['GET', this.name], GET)
    return reply === null ? undefined : this.decode(integer, reply)
  }

  /** Raises the sequence so that it goes on after `value`, never lowers it; answers where it stands now. For imports. */
  async atLeast(value: number): Promise<number> {
    const { connection, lifetime } = this.home
    const stored = this.encode(integer, value)
    const given = { ...lifetimeNow(lifetime), value: stored }
    return this.decode(integer, await atLeast.run(connection, { key: this.name }, given))
  }
}
