import { ONE_KEY, ONE_KEY_BYTES } from '../connection/connection.ts'
import type { ParamCodecs } from '../param.ts'
import { type Entry, openEntry } from './entry.ts'
import { type FieldCodecs, fieldsOf } from './fields.ts'
import { homeOf } from './key.ts'
import { type EntryOptions, type Kind, keySpec } from './kind.ts'
import { VERBS } from './permission.ts'
import { StreamKey } from './stream-key.ts'

/** An entry of streams: `keys.events({ room })` is a `StreamKey`. */
export type StreamEntry<P extends string, C, F> = Entry<P, C, StreamKey<F>>

/**
 * An append-only log (XADD, XRANGE) whose entries are named fields, each with a codec of its own, or `fields(codec)` for
 * fields of any name; and the consumer groups that share its work. Unlike other collections, an empty stream is a key.
 *
 * @example
 * const events = stream('events:<room>', { user: text, joined: boolean }, { ttl: '7d' })
 * await keys.events({ room }).add({ user: 'ada', joined: true }, { maxLength: 1000 })
 */
export function stream<
  const P extends string,
  const F extends FieldCodecs,
  const C extends ParamCodecs<P> = {},
>(pattern: P, fields: F, options: EntryOptions<P, C>): Kind<StreamEntry<P, C, F>> {
  const spec = keySpec(pattern, 'stream', fields, options)
  const codecs = fieldsOf(fields)
  return {
    keys: [spec],
    together: false,
    commands: VERBS.stream,
    open(opening) {
      const shape = codecs.bytes ? ONE_KEY_BYTES : ONE_KEY
      const home = { ...homeOf(spec, opening), fields: codecs, shape }
      return openEntry(spec, opening, (name) => new StreamKey<F>(home, name))
    },
  }
}
