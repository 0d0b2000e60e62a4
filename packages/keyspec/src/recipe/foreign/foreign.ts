import { text } from '../../codec/text.ts'
import { keyReader, prefixed } from '../../kind/entry.ts'
import type { Foreign, ForeignKey, Kind, KeySpec, RedisType } from '../../kind/kind.ts'
import { keySpec } from '../../kind/kind.ts'

/** What is known of keys that another program writes. */
export interface ForeignOptions {
  /** The program: `BullMQ`. */
  readonly by: string
  /** The type of all of them, or what there is at each, by the values of the placeholders. */
  readonly keys: RedisType | Foreign['describe']
  readonly about: string
  /** The patterns these keys had before, with the same placeholders. */
  readonly was?: readonly string[]
}

/** An entry of keys that are another program's: there is nothing to write, only to know. */
export interface ForeignEntry {
  /** What stands at a key, or `undefined` where it is none of them. */
  describe(key: string): ForeignKey | undefined
}

/**
 * Keys that another program writes, declared so that no entry of ours can own them and the tools know them.
 *
 * @example
 * sidekiq: foreign('queue:<name>', { by: 'Sidekiq', keys: 'list', about: 'Jobs that wait' })
 */
export function foreign(pattern: string, options: ForeignOptions): Kind<ForeignEntry> {
  return foreignKeys([foreignSpec(pattern, options)])
}

/** One pattern of another program. */
export function foreignSpec(pattern: string, { by, keys, about, was = [] }: ForeignOptions): KeySpec {
  const describe = typeof keys === 'function' ? keys : () => ({ type: keys, about })
  const because = `${by} decides how long its keys live`
  // The codec is of no account: nothing of ours reads them.
  const spec = keySpec(pattern, 'string', text, { ttl: 'forever', because, about, was })
  return { ...spec, type: typeof keys === 'function' ? 'various' : keys, foreign: { by, describe } }
}

/** An entry over several patterns of another program. */
export function foreignKeys(keys: readonly KeySpec[]): Kind<ForeignEntry> {
  return {
    keys,
    together: false,
    open({ prefix }) {
      const readers = keys.flatMap((spec) =>
        [spec.pattern, ...spec.was].map((each) => {
          const pattern = prefixed(each, prefix)
          return { spec, pattern, owns: keyReader(pattern, spec.params) }
        }),
      )
      return {
        describe(key) {
          const found = readers.find(({ owns }) => owns(key) !== undefined)
          return found?.spec.foreign?.describe(found.pattern.parse(key)!)
        },
      }
    },
  }
}
