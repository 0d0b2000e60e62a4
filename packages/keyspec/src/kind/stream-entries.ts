import type { Home } from './key.ts'
import type { Duration } from '../duration.ts'
import type { Codec } from '../codec/codec.ts'
import type { Shape, Reply } from '../connection/connection.ts'
import { decodeFields, type Fields, type FieldValues } from './fields.ts'

/** What streams of one entry share. */
export interface StreamHome extends Home {
  readonly fields: Fields
  /** One key, answered in bytes if a field wants them. */
  readonly shape: Shape
}

/** How a read waits for entries to come. */
export interface ReadOptions {
  readonly limit?: number
  /**
   * Waits so long for an entry where there is none yet. The connection does nothing else meanwhile: open the keyspace
   * over one of its own for this.
   */
  readonly wait?: Duration
}

/** An entry of a stream. Its `id` is `<ms since the epoch>-<number>`, and grows from entry to entry. */
export interface StreamItem<F> {
  readonly id: string
  readonly value: FieldValues<F>
}

/** An entry that a consumer was given and that was trimmed or removed since: acknowledge it, there is nothing else left. */
export interface TrimmedItem {
  readonly id: string
  readonly value?: undefined
}

type Decode = (codec: Codec<any, any>, stored: Reply, where: string) => unknown

/** The entries of a reply; one without fields was trimmed. */
export function itemsOf<F>(reply: Reply, fields: Fields, decode: Decode): (StreamItem<F> | TrimmedItem)[] {
  return ((reply ?? []) as readonly (readonly [Reply, readonly Reply[] | null] | null)[]).flatMap((entry) => {
    if (entry === null) return []
    const [at, flat] = entry
    const id = String(at)
    if (flat === null) return [{ id }]
    const value = decodeFields(fields, flat, (codec, stored, where) =>
      decode(codec, stored, `${where} of entry ${id}`),
    )
    return [{ id, value: value as FieldValues<F> }]
  })
}

/** The entries in the reply of XREAD and XREADGROUP over one stream. */
export function entriesRead(reply: Reply): Reply {
  return reply === null ? null : (reply as readonly [readonly [Reply, Reply]])[0][1]
}

/** A flat reply of name and value in turn, by name. */
export function byName(reply: Reply): ReadonlyMap<string, Reply> {
  const flat = reply as readonly Reply[]
  return new Map(flat.flatMap((name, at) => (at % 2 === 0 ? [[String(name), flat[at + 1]!] as const] : [])))
}
