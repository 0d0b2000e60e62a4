import type { Codec } from '../../codec/codec.ts'
import { ONE_KEY } from '../../connection/connection.ts'
import { isUnavailable } from '../../connection/server-error.ts'
import { type Entry, openEntry } from '../../kind/entry.ts'
import { type Home, homeOf, Key } from '../../kind/key.ts'
import { type EntryOptions, type Kind, keySpec } from '../../kind/kind.ts'
import type { ParamCodecs } from '../../param.ts'
import { int, rest } from '../../script/argument.ts'
import { integerReply, listReply } from '../../script/reply.ts'
import { script } from '../../script/script.ts'
import { LIFETIME, lifetimeNow } from '../lifetime.ts'
import * as lua from './lua.gen.ts'

/** An entry of sets that claim what is new: `keys.suggestions({ sessionId })` is a `SeenKey`. */
export type SeenEntry<P extends string, C, In> = Entry<P, C, SeenKey<In>>

/** What a `seen` may declare beside its lifetime. */
export interface SeenOptions {
  /**
   * What `claim` answers while Redis cannot be reached: every candidate, at the risk of a repetition, or none. Unless
   * it is said, the client's error passes through.
   */
  readonly unreachable?: 'all' | 'none'
}

/**
 * A set of what has been seen, that hands out each value once.
 *
 * @example
 * suggestions: seen('suggestions:<sessionId>', text, { ttl: '24h' })
 * const fresh = await keys.suggestions({ sessionId }).claim(candidates, { most: 3 })
 */
export function seen<const P extends string, In, const C extends ParamCodecs<P> = {}>(
  pattern: P,
  codec: Codec<any, In>,
  options: EntryOptions<P, C> & SeenOptions,
): Kind<SeenEntry<P, C, In>> {
  const spec = keySpec(pattern, 'set', codec, options)
  const { unreachable } = options
  return {
    keys: [spec],
    together: false,
    open(opening) {
      const home = { ...homeOf(spec, opening), codec, unreachable }
      return openEntry(spec, opening, (name) => new SeenKey(home, name))
    },
  }
}

const claim = script('seen/claim', {
  keys: ['key'],
  args: { ...LIFETIME, most: int, candidates: rest },
  lua: lua.claim,
  reply: listReply(integerReply),
})

interface SeenHome<In> extends Home {
  readonly codec: Codec<any, In>
  readonly unreachable: SeenOptions['unreachable']
}

/** A set of what has been seen. */
export class SeenKey<In> extends Key {
  declare protected readonly home: SeenHome<In>

  constructor(home: SeenHome<In>, name: string) {
    super(home, name)
  }

  /**
   * Of the candidates, in their order, those never claimed before (at most `most`), claimed now in the same step. Each
   * is answered to one caller, once; if that answer is lost on its way, so is the claim.
   */
  async claim(candidates: Iterable<In>, options: { readonly most?: number } = {}): Promise<In[]> {
    const { connection, codec, lifetime, unreachable } = this.home
    const values = [...candidates]
    const stored = values.map((value) => this.encode(codec, value))
    const most = Math.max(0, options.most ?? values.length)
    try {
      const named = { key: this.name }
      const given = { ...lifetimeNow(lifetime), most, candidates: stored }
      return (await claim.run(connection, named, given)).map((place) => values[place - 1]!)
    } catch (error) {
      if (unreachable === undefined || !isUnavailable(error)) throw error
      return unreachable === 'none' ? [] : distinct(values, stored).slice(0, most)
    }
  }

  /** Whether a value has been claimed. */
  async has(value: In): Promise<boolean> {
    return (await this.read(['SISMEMBER', this.name, this.encode(this.home.codec, value)], ONE_KEY)) === 1
  }

  /** How many have been claimed. */
  async size(): Promise<number> {
    return (await this.read(['SCARD', this.name], ONE_KEY)) as number
  }

  /** Lets values be claimed again; answers how many had been claimed. */
  async forget(...values: readonly In[]): Promise<number> {
    if (values.length === 0) return 0
    const stored = values.map((value) => this.encode(this.home.codec, value))
    return (await this.send(['SREM', this.name, ...stored], ONE_KEY)) as number
  }
}

/** The values whose stored forms differ, each at its first place. */
function distinct<In>(values: readonly In[], stored: readonly (string | Uint8Array)[]): In[] {
  const known = new Set<string>()
  return values.filter((_, index) => {
    const form = stored[index]!
    const before = known.size
    return known.add(typeof form === 'string' ? form : Buffer.from(form).toString('latin1')).size > before
  })
}
