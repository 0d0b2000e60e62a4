import type { Codec } from '../../codec/codec.ts'
import { ONE_KEY, ONE_KEY_BYTES } from '../../connection/connection.ts'
import { decodeReply, integerReply } from '../../connection/reply.ts'
import { type Entry, openEntry } from '../../kind/entry.ts'
import type { EntryOptions, Kind } from '../../kind/kind.ts'
import type { ParamCodecs } from '../../param.ts'
import {
  REPLACING,
  type ReplaceResult,
  SwappedKey,
  type SwapHome,
  swapHome,
  type SwapOptions,
  swapSpecs,
} from './replace.ts'

/** An entry of swapped sets: `keys.trending()` is a `SwapSetKey`. */
export type SwapSetEntry<P extends string, C, T, In> = Entry<P, C, SwapSetKey<T, In>>

/**
 * A set that is replaced whole: the new one is staged and swapped in one step, so readers see the old one or the new
 * one, never none and never a mix. All values travel in one script: right for some ten thousands, not for millions.
 *
 * @example
 * trending: swapSet('trending:current', integer, {
 *   staging: 'trending:next', ttl: 'forever', reason: 'replaced whole by each successful run',
 *   onMissing: (key) => log.warn(`${key} is missing: no bonus for what is trending`),
 * })
 */
export function swapSet<const P extends string, T, In, const C extends ParamCodecs<P> = {}>(
  pattern: P,
  codec: Codec<T, In>,
  options: EntryOptions<P, C> & SwapOptions,
): Kind<SwapSetEntry<P, C, T, In>> {
  const keys = swapSpecs(pattern, 'set', codec, options)
  return {
    keys,
    together: true,
    layout: 1,
    commands: [...REPLACING.SADD, 'SCARD', 'SISMEMBER', 'SMEMBERS'],
    open(opening) {
      const home = { ...swapHome(keys, opening, options), codec }
      return openEntry(keys[0], opening, (name, params) => new SwapSetKey(home, name, params))
    },
  }
}

interface SetHome<T, In> extends SwapHome {
  readonly codec: Codec<T, In>
}

/** A set that is replaced whole. */
export class SwapSetKey<T, In = T> extends SwappedKey {
  declare protected readonly home: SetHome<T, In>

  constructor(home: SetHome<T, In>, name: string, params: Readonly<Record<string, unknown>>) {
    super(home, name, params)
  }

  /**
   * Puts these values in place of all there were; where there are none, the old ones stay. One step, which holds the server
   * while it writes the new values, some milliseconds a thousand; the old ones are freed in the background.
   */
  async replace(values: Iterable<In>): Promise<ReplaceResult> {
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
    return decodeReply(integerReply, await this.read(['SCARD', this.name], ONE_KEY), this.name)
  }
}
