import { ONE_KEY, ONE_KEY_BYTES } from '../connection/connection.ts'
import type { ParamCodecs } from '../param.ts'
import { type Entry, openEntry } from './entry.ts'
import { Many } from './many.ts'
import { type FieldCodecs, type FieldValues, fieldsOf } from './fields.ts'
import { HashKey } from './hash-key.ts'
import { homeOf } from './key.ts'
import { type EntryOptions, type Kind, keySpec } from './kind.ts'
import { VERBS } from './permission.ts'

/** An entry of hashes: `keys.run({ id })` is a `HashKey`. */
export type HashEntry<P extends string, C, F> = Entry<P, C, HashKey<F>, ManyHashes<F>>

/**
 * Named fields at a key (HSET, HGET), each with a codec of its own, or `fields(codec)` for fields of any name. Every
 * field may be absent on reading; fields that are not declared are neither shown nor touched. A hash without fields is
 * no key.
 *
 * @example
 * const run = hash('run:<id>', { status: text, done: integer }, { ttl: '25h' })
 * await keys.run({ id }).update({ status: 'running' }) // { status: 'running', done: 4 }
 */
export function hash<
  const P extends string,
  const F extends FieldCodecs,
  const C extends ParamCodecs<P> = {},
>(pattern: P, fields: F, options: EntryOptions<P, C>): Kind<HashEntry<P, C, F>> {
  const spec = keySpec(pattern, 'hash', fields, options)
  const codecs = fieldsOf(fields)
  return {
    keys: [spec],
    together: false,
    commands: VERBS.hash,
    open(opening) {
      const shape = codecs.bytes ? ONE_KEY_BYTES : ONE_KEY
      const home = { ...homeOf(spec, opening), fields: codecs, shape }
      return openEntry(
        spec,
        opening,
        (name) => new HashKey<F>(home, name),
        (keys, connection) => new ManyHashes(keys, connection),
      )
    },
  }
}

/** Many hashes at once. */
export class ManyHashes<F> extends Many<HashKey<F>> {
  /** The fields of each, in the order asked, `undefined` where there is no hash. */
  get(): Promise<(FieldValues<F> | undefined)[]> {
    return Promise.all(this.keys.map((key) => key.get()))
  }
}
