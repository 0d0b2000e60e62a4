import { text } from '../../codec/text.ts'
import { keyReader, prefixed } from '../../kind/key-name.ts'
import type { External, ExternalKey, Kind, KeySpec, RedisType } from '../../kind/kind.ts'
import { keySpec } from '../../kind/kind.ts'

/** What is known of keys that another program writes. */
export interface ExternalOptions {
  /** The program: `BullMQ`. */
  readonly by: string
  /** The type of all of them, or what there is at each, by the values of the placeholders. */
  readonly keys: RedisType | External['describe']
  readonly about: string
  /** The patterns these keys had before, with the same placeholders. */
  readonly renamedFrom?: readonly string[]
  /** Param codecs: a key is the program's only if they can read it. They tell apart what two patterns of one program match. */
  readonly params?: KeySpec['params']
}

/** An entry of keys that are another program's: there is nothing to write, only to know. */
export interface ExternalEntry {
  /** What stands at a key, or `undefined` where it is none of them. */
  describe(key: string): ExternalKey | undefined
}

/**
 * Keys that another program writes, declared so that no entry of ours can own them and the tools know them.
 *
 * @example
 * sidekiq: external('queue:<name>', { by: 'Sidekiq', keys: 'list', about: 'Jobs that wait' })
 */
export function external(pattern: string, options: ExternalOptions): Kind<ExternalEntry> {
  return externalKeys([externalSpec(pattern, options)])
}

/** One pattern of another program. */
export function externalSpec(
  pattern: string,
  { by, keys, about, renamedFrom = [], params = {} }: ExternalOptions,
): KeySpec {
  const describe = typeof keys === 'function' ? keys : () => ({ type: keys, about })
  const reason = `${by} decides how long its keys live`
  // The codec is of no account: nothing of ours reads them.
  // Nothing of ours uses these keys, so a phase would change nothing: `migrate` alone moves them.
  const renamed = renamedFrom.length === 0 ? {} : { renamedFrom: { pattern: renamedFrom, phase: 2 } as const }
  const spec = keySpec(pattern, 'string', text, { ttl: 'forever', reason, about, params, ...renamed })
  return { ...spec, type: typeof keys === 'function' ? 'various' : keys, external: { by, describe } }
}

/** An entry over several patterns of another program. */
export function externalKeys(keys: readonly KeySpec[]): Kind<ExternalEntry> {
  return {
    keys,
    together: false,
    open({ prefix }) {
      const readers = keys.flatMap((spec) =>
        [spec.pattern, ...spec.renamedFrom].map((each) => {
          const pattern = prefixed(each, prefix)
          return { spec, pattern, owns: keyReader(pattern, spec.params) }
        }),
      )
      return {
        describe(key) {
          const found = readers.find(({ owns }) => owns(key) !== undefined)
          return found?.spec.external?.describe(found.pattern.parse(key)!)
        },
      }
    },
  }
}
