import type { Codec } from '../codec/codec.ts'
import type { ParamCodecs } from '../param.ts'
import { collectionHome } from './collection.ts'
import { type Entry, openEntry } from './entry.ts'
import { type EntryOptions, type Kind, keySpec } from './kind.ts'
import { ListKey } from './list-key.ts'
import { VERBS } from './permission.ts'

/** An entry of lists: `keys.history({ sessionId })` is a `ListKey`. */
export type ListEntry<P extends string, C, T, In> = Entry<P, C, ListKey<T, In>>

/**
 * Elements in the order they were pushed (LPUSH, RPUSH, LRANGE). An empty list is no key.
 *
 * @example
 * const failed = list('failed:<hour>', text, { ttl: '2h' })
 * await keys.failed({ hour: '2024-09-17_14' }).pushFront('12345')
 */
export function list<const P extends string, T, In, const C extends ParamCodecs<P> = {}>(
  pattern: P,
  codec: Codec<T, In>,
  options: EntryOptions<P, C>,
): Kind<ListEntry<P, C, T, In>> {
  const spec = keySpec(pattern, 'list', codec, options)
  return {
    keys: [spec],
    together: false,
    commands: VERBS.list,
    open(opening) {
      const home = collectionHome(spec, opening, codec)
      return openEntry(spec, opening, (name) => new ListKey(home, name))
    },
  }
}
