import type { Codec } from '../../codec/codec.ts'
import { GET_BYTES } from '../../connection/pipeline/reads.ts'
import { type Entry, openEntry } from '../../kind/entry.ts'
import { type Home, homeOf, Key } from '../../kind/key.ts'
import { type EntryOptions, type Kind, keySpec } from '../../kind/kind.ts'
import type { ParamCodecs } from '../../param.ts'
import { flag, text } from '../../script/argument.ts'
import { booleanReply, bytesReply, decodeReply, optionalReply, tupleReply } from '../../connection/reply.ts'
import { script } from '../../script/script.ts'
import { LIFETIME, lifetimeNow } from '../lifetime.ts'
import { readable } from '../../codec/readable.ts'
import * as lua from './lua.gen.ts'

/** An entry of watermarks: `keys.docketsLastTimestamp()` is a `WatermarkKey`. */
export type WatermarkEntry<P extends string, C, T extends Ordered, In> = Entry<P, C, WatermarkKey<T, In>>

/** What has an order of its own: dates by time, numbers by size, texts by code unit. */
export type Ordered = Date | number | bigint | string

/** Whether a watermark moved, and where it stands now. */
export interface AdvanceResult<T> {
  readonly advanced: boolean
  readonly value: T
}

/**
 * A value that never moves backwards, whoever writes it. Values are compared as values, not as they are spelled: what
 * another program wrote (`2024-09-17T16:30:00+02:00` under `isoDate`) counts as what it means. While Redis cannot be
 * reached its verbs reject with the client's error; advancing once more is always safe.
 *
 * @example
 * dockets: watermark('dockets_last_timestamp', sqlDate, { ttl: 'forever', reason: 'where the next run goes on' })
 * const { advanced, value } = await keys.dockets().advance(lastModified)
 */
export function watermark<const P extends string, T extends Ordered, In, const C extends ParamCodecs<P> = {}>(
  pattern: P,
  codec: Codec<T, In>,
  options: EntryOptions<P, C>,
): Kind<WatermarkEntry<P, C, T, In>> {
  const spec = keySpec(pattern, 'string', codec, { evictable: false, ...options })
  return {
    keys: [spec],
    together: false,
    layout: 1,
    commands: advance.commands,
    open(opening) {
      const home = { ...homeOf(spec, opening), codec }
      return openEntry(spec, opening, (name) => new WatermarkKey(home, name))
    },
  }
}

const STORED = optionalReply(bytesReply)

const advance = script('watermark/advance', {
  keys: ['key'],
  args: { ...LIFETIME, present: flag, seen: text, value: text },
  lua: lua.advance,
  commands: ['GET', 'PTTL', 'SET'],
  reply: tupleReply(booleanReply, STORED),
  bytes: true,
})

interface WatermarkHome<T extends Ordered, In> extends Home {
  readonly codec: Codec<T, In>
}

/** A key that holds a watermark. */
export class WatermarkKey<T extends Ordered, In = T> extends Key {
  declare protected readonly home: WatermarkHome<T, In>

  constructor(home: WatermarkHome<T, In>, name: string) {
    super(home, name)
  }

  /** Where it stands, or `undefined` where it was never set. */
  async get(): Promise<T | undefined> {
    const stored = decodeReply(STORED, await this.read(['GET', this.name], GET_BYTES), this.name)
    return stored === undefined ? undefined : this.#valueOf(stored)
  }

  /** Moves it forward to `value`, unless it stands there or beyond; answers where it stands now. */
  async advance(value: In): Promise<AdvanceResult<T>> {
    const { connection, codec, lifetime } = this.home
    const stored = this.encode(codec, value)
    const wanted = this.#valueOf(stored)
    let seen = decodeReply(STORED, await this.send(['GET', this.name], GET_BYTES), this.name)
    // Each further round is due to another writer that moved it meanwhile, so all together they come to an end.
    for (;;) {
      if (seen !== undefined) {
        const current = this.#valueOf(seen)
        if (!(current < wanted)) return { advanced: false, value: current }
      }
      const given = { ...lifetimeNow(lifetime), present: seen !== undefined, seen: seen ?? '', value: stored }
      const [advanced, now] = await advance.run(connection, { key: this.name }, given)
      if (advanced) return { advanced: true, value: wanted }
      seen = now
    }
  }

  // Read as bytes, whatever the codec: only bytes can be compared with what is stored without a doubt.
  #valueOf(stored: string | Uint8Array): T {
    return this.decode(this.home.codec, readable(this.home.codec, stored))
  }
}
