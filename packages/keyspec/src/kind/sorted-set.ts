import type { Codec } from '../codec/codec.ts'
import type { ParamCodecs } from '../param.ts'
import { collectionHome } from './collection.ts'
import { type Entry, openEntry } from './entry.ts'
import { type EntryOptions, type Kind, keySpec } from './kind.ts'
import { VERBS } from './permission.ts'
import { SortedSetKey } from './sorted-set-key.ts'

/** An entry of sorted sets: `keys.deadlines()` is a `SortedSetKey`. */
export type SortedSetEntry<P extends string, C, T, In> = Entry<P, C, SortedSetKey<T, In>>

/**
 * Elements in the order of their scores (ZADD, ZRANGE), those of equal score in the order of their bytes. Two values are
 * one element when they are stored alike. An empty sorted set is no key.
 *
 * @example
 * const deadlines = sortedSet('deadlines', text, { ttl: 'forever', reason: 'the jobs that are running' })
 * await keys.deadlines().rangeByScore({ max: Date.now() })
 */
export function sortedSet<const P extends string, T, In, const C extends ParamCodecs<P> = {}>(
  pattern: P,
  codec: Codec<T, In>,
  options: EntryOptions<P, C>,
): Kind<SortedSetEntry<P, C, T, In>> {
  const spec = keySpec(pattern, 'zset', codec, options)
  return {
    keys: [spec],
    together: false,
    commands: VERBS.sortedSet,
    open(opening) {
      const home = collectionHome(spec, opening, codec)
      return openEntry(spec, opening, (name) => new SortedSetKey(home, name))
    },
  }
}
