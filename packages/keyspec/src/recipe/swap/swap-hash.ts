import type { Codec } from '../../codec/codec.ts'
import { ONE_KEY, ONE_KEY_BYTES, type Reply } from '../../connection/connection.ts'
import { decodeReply, integerReply, storedReply } from '../../connection/reply.ts'
import { type Entry, openEntry } from '../../kind/entry.ts'
import type { EntryOptions, Kind } from '../../kind/kind.ts'
import type { ParamCodecs } from '../../param.ts'
import { readable } from '../../codec/readable.ts'
import {
  REPLACING,
  type ReplaceResult,
  SwappedKey,
  type SwapHome,
  swapHome,
  type SwapOptions,
  swapSpecs,
} from './replace.ts'

/** An entry of scored snapshots: `keys.trending()` is a `SwapHashKey`. */
export type SwapHashEntry<P extends string, C, T, In, S, SIn> = Entry<P, C, SwapHashKey<T, In, S, SIn>>

/**
 * A `swapSet` whose members each have a score (or another value): a hash, replaced whole in one step.
 *
 * @example
 * trending: swapHash('trending:current', integer, number, {
 *   staging: 'trending:next', ttl: 'forever', reason: 'replaced whole by each successful run',
 * })
 * await keys.trending().replace([[603, 0.97], [604, 0.31]])
 */
export function swapHash<const P extends string, T, In, S, SIn, const C extends ParamCodecs<P> = {}>(
  pattern: P,
  codec: Codec<T, In>,
  scoreCodec: Codec<S, SIn>,
  options: EntryOptions<P, C> & SwapOptions,
): Kind<SwapHashEntry<P, C, T, In, S, SIn>> {
  const keys = swapSpecs(pattern, 'hash', { '*': scoreCodec }, options)
  return {
    keys,
    together: true,
    layout: 1,
    commands: [...REPLACING.HSET, 'HEXISTS', 'HGET', 'HGETALL', 'HLEN'],
    open(opening) {
      const home = { ...swapHome(keys, opening, options), codec, scoreCodec }
      return openEntry(keys[0], opening, (name, params) => new SwapHashKey(home, name, params))
    },
  }
}

interface ScoredHome<T, In, S, SIn> extends SwapHome {
  readonly codec: Codec<T, In>
  readonly scoreCodec: Codec<S, SIn>
}

/** A hash of members and their scores that is replaced whole. */
export class SwapHashKey<T, In = T, S = number, SIn = S> extends SwappedKey {
  declare protected readonly home: ScoredHome<T, In, S, SIn>

  constructor(home: ScoredHome<T, In, S, SIn>, name: string, params: Readonly<Record<string, unknown>>) {
    super(home, name, params)
  }

  /**
   * Puts these members and scores (a `Map` will do) in place of all there were; where there are none, the old ones stay. One
   * step, which holds the server while it writes the new members, some milliseconds a thousand; the old ones are freed in the
   * background.
   */
  async replace(scores: Iterable<readonly [In, SIn]>): Promise<ReplaceResult> {
    const { codec, scoreCodec } = this.home
    return this.swap(
      'HSET',
      Array.from(scores, ([member, score]) => [
        this.encode(codec, member),
        this.encode(scoreCodec, score),
      ]).flat(),
    )
  }

  /** All members with their scores, read at once; none, and a word to `onMissing`, where the key is missing. */
  async scores(): Promise<Map<T, S>> {
    const { codec, scoreCodec } = this.home
    const bytes = codec.bytes || scoreCodec.bytes
    const reply = await this.whole(this.read(['HGETALL', this.name], bytes ? ONE_KEY_BYTES : ONE_KEY))
    const scores = new Map<T, S>()
    for (let at = 0; at < reply.length; at += 2) {
      scores.set(this.#read(codec, reply[at]!), this.#read(scoreCodec, reply[at + 1]!))
    }
    return scores
  }

  /** The score of one member, or `undefined` where it is not in it; for many members, ask `scores` once. */
  async score(member: In): Promise<S | undefined> {
    const { codec, scoreCodec } = this.home
    const command = ['HGET', this.name, this.encode(codec, member)]
    const reply = await this.read(command, scoreCodec.bytes ? ONE_KEY_BYTES : ONE_KEY)
    return reply === null ? undefined : this.decode(scoreCodec, reply)
  }

  /** Whether a member is in it. */
  async has(member: In): Promise<boolean> {
    return (await this.read(['HEXISTS', this.name, this.encode(this.home.codec, member)], ONE_KEY)) === 1
  }

  /** How many members there are. */
  async size(): Promise<number> {
    return decodeReply(integerReply, await this.read(['HLEN', this.name], ONE_KEY), this.name)
  }

  #read<V>(codec: Codec<V, any>, stored: Reply): V {
    return this.decode(codec, readable(codec, decodeReply(storedReply, stored, this.name)))
  }
}
