import type { Codec } from '../codec/codec.ts'
import type { ParamCodecs } from '../param.ts'
import { collectionHome } from './collection.ts'
import { type Entry, openEntry } from './entry.ts'
import { Many } from './many.ts'
import { type EntryOptions, type Kind, keySpec } from './kind.ts'
import { VERBS } from './permission.ts'
import { SetKey } from './set-key.ts'

/** An entry of sets: `keys.suggestions({ sessionId })` is a `SetKey`. */
export type SetEntry<P extends string, C, T, In> = Entry<P, C, SetKey<T, In>, ManySets<T, In>>

/**
 * Elements that are there or not, in no order (SADD, SISMEMBER). Two values are one element when they are stored alike.
 * An empty set is no key.
 *
 * @example
 * const trending = set('trending:current', integer, { ttl: '2d' })
 * await keys.trending().has(603)
 */
export function set<const P extends string, T, In, const C extends ParamCodecs<P> = {}>(
  pattern: P,
  codec: Codec<T, In>,
  options: EntryOptions<P, C>,
): Kind<SetEntry<P, C, T, In>> {
  const spec = keySpec(pattern, 'set', codec, options)
  return {
    keys: [spec],
    together: false,
    commands: VERBS.set,
    open(opening) {
      const home = collectionHome(spec, opening, codec)
      return openEntry(
        spec,
        opening,
        (name) => new SetKey(home, name),
        (keys, connection) => new ManySets(keys, connection),
      )
    },
  }
}

/** Many sets at once. What combines them is one command: on a cluster they must all live in one slot. */
export class ManySets<T, In = T> extends Many<SetKey<T, In>> {
  /** The elements that any of them holds. */
  union(): Promise<T[]> {
    return this.#combine('SUNION')
  }

  /** The elements that all of them hold. */
  intersect(): Promise<T[]> {
    return this.#combine('SINTER')
  }

  /** The elements that the first holds and none of the others. */
  difference(): Promise<T[]> {
    return this.#combine('SDIFF')
  }

  async #combine(command: string): Promise<T[]> {
    const [first, ...others] = this.keys
    return first === undefined ? [] : first.combine(command, others)
  }
}
