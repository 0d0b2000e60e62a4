import type { Connection } from '../connection/connection.ts'
import type { ParamTexts, ParamValues } from '../param.ts'
import { keyReader, keyWriter, nameOrNone, prefixed } from './key-name.ts'
import type { KeySpec, Opening } from './kind.ts'
import { Many } from './many.ts'
import { refused } from './refused.ts'
import { scanNames } from './scan-names.ts'

/**
 * An entry of an open keyspace: called with the values of its placeholders it gives the key. It never throws: the verbs
 * of a key that cannot be named reject with a `KeyError`.
 * `K` is the key's handle, `M` the handle of many keys at once, `P` the pattern, `C` its param codecs.
 */
export interface Entry<P extends string, C, K, M = Many<K>> {
  (
    ...params: {} extends ParamValues<P, C> ? [params?: Record<string, never>] : [params: ParamValues<P, C>]
  ): K
  /** Many keys at once: what is asked of them goes out together. */
  many(params: Iterable<ParamValues<P, C>>): M
  /**
   * The keys of this entry that exist now, found with SCAN in batches of `count`. A key that comes or goes meanwhile may
   * be missed; one may be shown twice while the server rehashes. Keys that still have an old name come first, once each.
   */
  scan(options?: {
    readonly count?: number
  }): AsyncGenerator<{ readonly params: ParamTexts<P, C>; readonly key: K }>
  /** The placeholders of one of its keys, or `undefined` when the key is not one of them. */
  parse(key: string): ParamTexts<P, C> | undefined
}

/**
 * Opens one pattern of a kind: its keys are written and read with the keyspace's prefix. `keyAt` makes the handle of one
 * key; a recipe over several keys makes their names from `params`, with a `keyWriter` for each.
 */
export function openEntry<P extends string, C, K, M = Many<K>>(
  spec: KeySpec,
  opening: Opening,
  keyAt: (name: string, params: Readonly<Record<string, unknown>>) => K,
  manyOf: (keys: readonly K[], connection: Connection) => M = (keys, connection) =>
    new Many(keys, connection) as M,
): Entry<P, C, K, M> {
  const { connection, prefix } = opening
  const pattern = prefixed(spec.pattern, prefix)
  const nameOf = keyWriter(pattern, spec.params)
  const parse = keyReader<Record<string, unknown>>(pattern, spec.params)
  const old = (spec.phase === 3 ? [] : spec.renamedFrom).map((before) => {
    const renamedFrom = prefixed(before, prefix)
    return [renamedFrom, keyReader<Record<string, unknown>>(renamedFrom, spec.params)] as const
  })

  const entry = (params: Record<string, unknown> = {}) => {
    try {
      return keyAt(nameOf(params), params)
    } catch (error) {
      return refused(error) as K
    }
  }
  // A key that was found is shown, whatever its verbs say.
  const found = (name: string, params: Record<string, unknown>) => {
    try {
      return keyAt(name, params)
    } catch (error) {
      return refused(error) as K
    }
  }
  const methods = {
    many(params: Iterable<Record<string, unknown>>): M {
      let failed: { readonly error: unknown } | undefined
      const keys: K[] = []
      try {
        for (const each of params) {
          try {
            keys.push(keyAt(nameOf(each), each))
          } catch (error) {
            failed ??= { error }
            keys.push(refused(error) as K)
          }
        }
      } catch (error) {
        failed ??= { error }
      }
      const many = manyOf(keys, connection)
      // What is not a `Many` has no verbs of its own.
      return failed !== undefined && many instanceof Many ? (refused(failed.error, keys) as M) : many
    },
    parse,
    async *scan(options: { readonly count?: number } = {}) {
      // In the body, since a generator's parameters are read when it is called.
      const { count = 512 } = options
      // A key that is used while it is shown may move to its new name, where the scan finds it again.
      const shown = new Set<string>()
      for (const [before, read] of old) {
        for await (const oldName of scanNames(connection, before, count)) {
          const params = read(oldName)
          const name = params === undefined ? undefined : nameOrNone(() => nameOf(params))
          if (params === undefined || name === undefined || shown.has(name)) continue
          shown.add(name)
          yield { params, key: found(name, params) }
        }
      }
      for await (const name of scanNames(connection, pattern, count)) {
        const params = shown.has(name) ? undefined : parse(name)
        if (params !== undefined) yield { params, key: found(name, params) }
      }
    },
  }
  return Object.assign(entry, methods) as unknown as Entry<P, C, K, M>
}
