import type { Codec } from '../../codec/codec.ts'
import { ONE_KEY, ONE_KEY_BYTES } from '../../connection/connection.ts'
import { type Entry, openEntry } from '../../kind/entry.ts'
import type { EntryOptions, Kind } from '../../kind/kind.ts'
import type { ParamCodecs } from '../../param.ts'
import {
  type Replaced,
  ReplacedKey,
  type SnapshotHome,
  snapshotHome,
  type SnapshotOptions,
  snapshotSpecs,
} from './replace.ts'

/** An entry of snapshots: `keys.trending()` is a `SnapshotKey`. */
export type SnapshotEntry<P extends string, C, T, In> = Entry<P, C, SnapshotKey<T, In>>

/**
 * A set that is replaced whole: the new one is staged and swapped in one step, so readers see the old one or the new
 * one, never none and never a mix. All values travel in one script: right for some ten thousands, not for millions.
 *
 * @example
 * trending: snapshot('trending:current', integer, {
 *   staging: 'trending:next', ttl: 'forever', because: 'replaced whole by each successful run',
 *   onMissing: (key) => log.warn(`${key} is missing: no bonus for what is trending`),
 * })
 */
export function snapshot<const P extends string, T, In, const C extends ParamCodecs<P> = {}>(
  pattern: P,
  codec: Codec<T, In>,
  options: EntryOptions<P, C> & SnapshotOptions,
): Kind<SnapshotEntry<P, C, T, In>> {
  const keys = snapshotSpecs(pattern, 'set', codec, options)
  return {
    keys,
    together: true,
    open(opening) {
      const home = { ...snapshotHome(keys, opening, options), codec }
      return openEntry(keys[0], opening, (name, params) => new SnapshotKey(home, name, params))
    },
  }
}

interface SetHome<T, In> extends SnapshotHome {
  readonly codec: Codec<T, In>
}

/** A set that is replaced whole. */
export class SnapshotKey<T, In = T> extends ReplacedKey {
  declare protected readonly home: SetHome<T, In>

  constructor(home: SetHome<T, In>, name: string, params: Readonly<Record<string, unknown>>) {
    super(home, name, params)
  }

  /** Puts these values in place of all there were; where there are none, the old ones stay. */
  async replace(values: Iterable<In>): Promise<Replaced> {
    return this.swap(
      'SADD',
      Array.from(values, (value) => this.encode(this.home.codec, value)),
    )
  }

  /** All values, read at once; an empty set, and a word to `onMissing`, where the key is missing. */
  async members(): Promise<Set<T>> {
    const { codec } = this.home
    const reading = this.read(['SMEMBERS', this.name], codec.bytes ? ONE_KEY_BYTES : ONE_KEY)
    return new Set((await this.whole(reading)).map((stored) => this.decode(codec, stored)))
  }

  /** Whether a value is in it; for many values, ask `members` once. */
  async has(value: In): Promise<boolean> {
    return (await this.read(['SISMEMBER', this.name, this.encode(this.home.codec, value)], ONE_KEY)) === 1
  }

  /** How many values there are. */
  async size(): Promise<number> {
    return (await this.read(['SCARD', this.name], ONE_KEY)) as number
  }
}
