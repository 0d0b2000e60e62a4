import type { Codec } from '../../codec/codec.ts'
import { type Argument, ONE_KEY } from '../../connection/connection.ts'
import { isUnavailable } from '../../connection/server-error.ts'
import { type Entry, openEntry } from '../../kind/entry.ts'
import { type Home, homeOf, Key } from '../../kind/key.ts'
import { type EntryOptions, type Kind, keySpec } from '../../kind/kind.ts'
import type { ParamCodecs } from '../../param.ts'
import { int, rest } from '../../script/argument.ts'
import { decodeReply, integerReply, listReply } from '../../connection/reply.ts'
import { script } from '../../script/script.ts'
import { LIFETIME, lifetimeNow } from '../lifetime.ts'
import * as lua from './lua.gen.ts'

/** An entry of sets that claim what is new: `keys.suggestions({ sessionId })` is a `DedupeKey`. */
export type DedupeEntry<P extends string, C, In> = Entry<P, C, DedupeKey<In>>

/** What a `dedupe` may declare beside its lifetime. */
export interface DedupeOptions {
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
 * suggestions: dedupe('suggestions:<sessionId>', text, { ttl: '24h' })
 * const fresh = await keys.suggestions({ sessionId }).claim(candidates, { most: 3 })
 */
export function dedupe<const P extends string, In, const C extends ParamCodecs<P> = {}>(
  pattern: P,
  codec: Codec<any, In>,
  options: EntryOptions<P, C> & DedupeOptions,
): Kind<DedupeEntry<P, C, In>> {
  const spec = keySpec(pattern, 'set', codec, options)
  const { unreachable } = options
  return {
    keys: [spec],
    together: false,
    layout: 1,
    commands: [...claim.commands, 'SCARD', 'SISMEMBER', 'SREM'],
    open(opening) {
      const home = { ...homeOf(spec, opening), codec, unreachable }
      return openEntry(spec, opening, (name) => new DedupeKey(home, name))
    },
  }
}

const claim = script('dedupe/claim', {
  keys: ['key'],
  args: { ...LIFETIME, most: int, candidates: rest },
  lua: lua.claim,
  commands: ['PEXPIRE', 'PTTL', 'SADD'],
  reply: listReply(integerReply),
})

interface DedupeHome<In> extends Home {
  readonly codec: Codec<any, In>
  readonly unreachable: DedupeOptions['unreachable']
}

/** A set of what has been seen. */
export class DedupeKey<In> extends Key {
  declare protected readonly home: DedupeHome<In>

  constructor(home: DedupeHome<In>, name: string) {
    super(home, name)
  }

  /**
   * Returns those of the candidates, in their order, that were never claimed before (at most `most`), and claims them. Each
   * is answered to one caller, once; if that answer is lost on its way, so is the claim.
   *
   * Up to 2,000 candidates are one atomic step. More are claimed in steps of 2,000, one after another, so that the server
   * answers others in between. If a later step fails, the claims of the earlier ones are given back, as far as Redis can be
   * reached, and the error passes through.
   */
  async claim(candidates: Iterable<In>, options: { readonly most?: number } = {}): Promise<In[]> {
    const { codec, unreachable } = this.home
    const values = [...candidates]
    const stored = values.map((value) => this.encode(codec, value))
    const most = Math.max(0, options.most ?? values.length)
    const claimed: number[] = []
    for (let from = 0; from === 0 || (from < stored.length && claimed.length < most); from += STEP) {
      try {
        const places = await this.#step(stored.slice(from, from + STEP), most - claimed.length)
        for (const place of places) claimed.push(from + place - 1)
      } catch (error) {
        if (unreachable === undefined || !isUnavailable(error)) {
          await this.#giveBack(claimed.map((place) => stored[place]!))
          throw error
        }
        if (unreachable === 'all') {
          const others = Array.from(
            { length: values.length - Math.min(from, values.length) },
            (_, n) => from + n,
          )
          return distinct([...claimed, ...others], stored)
            .slice(0, most)
            .map((place) => values[place]!)
        }
        break
      }
    }
    return claimed.map((place) => values[place]!)
  }

  #step(candidates: readonly Argument[], most: number): Promise<readonly number[]> {
    const { connection, lifetime } = this.home
    return claim.run(connection, { key: this.name }, { ...lifetimeNow(lifetime), most, candidates })
  }

  /** Unclaims what no caller was told of. */
  async #giveBack(stored: readonly Argument[]): Promise<void> {
    await this.#remove(stored).catch(() => {})
  }

  async #remove(stored: readonly Argument[]): Promise<number> {
    let removed = 0
    for (let from = 0; from < stored.length; from += STEP) {
      const command = ['SREM', this.name, ...stored.slice(from, from + STEP)]
      removed += decodeReply(integerReply, await this.send(command, ONE_KEY), this.name)
    }
    return removed
  }

  /** Whether a value has been claimed. */
  async has(value: In): Promise<boolean> {
    return (await this.read(['SISMEMBER', this.name, this.encode(this.home.codec, value)], ONE_KEY)) === 1
  }

  /** How many have been claimed. */
  async size(): Promise<number> {
    return decodeReply(integerReply, await this.read(['SCARD', this.name], ONE_KEY), this.name)
  }

  /** Lets values be claimed again, in steps of 2,000; returns how many had been claimed. */
  async forget(...values: readonly In[]): Promise<number> {
    return this.#remove(values.map((value) => this.encode(this.home.codec, value)))
  }
}

// How many elements one step claims: it holds the server for some milliseconds.
const STEP = 2000

/** Of these places those whose stored forms differ, each the first of its form. */
function distinct(places: readonly number[], stored: readonly Argument[]): number[] {
  const known = new Set<string>()
  return places.filter((place) => {
    const form = stored[place]!
    const before = known.size
    return known.add(typeof form === 'string' ? form : Buffer.from(form).toString('latin1')).size > before
  })
}
