import type { Home } from './key.ts'
import { type Duration, milliseconds } from '../duration.ts'
import type { Codec } from '../codec/codec.ts'
import type { Command, Reply, Shape } from '../connection/connection.ts'
import { arrayReply, storedReply } from '../connection/reply.ts'
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
  return arrayReply(reply ?? []).flatMap((entry) => {
    if (entry === null) return []
    const [at = null, stored = null] = arrayReply(entry)
    const id = idReply(at)
    if (stored === null) return [{ id }]
    const flat = arrayReply(stored)
    const value = decodeFields(fields, flat, (codec, stored, where) =>
      decode(codec, stored, `${where} of entry ${id}`),
    )
    return [{ id, value: value as FieldValues<F> }]
  })
}

/** The command that reads entries after an id, be it XREAD or XREADGROUP, and its shape. */
export function readAfter(
  { shape: { bytes = false } }: StreamHome,
  head: readonly string[],
  stream: string,
  after: string,
  wait: Duration | undefined,
): readonly [command: Command, shape: Shape] {
  const block = wait === undefined ? [] : ['BLOCK', String(milliseconds(wait))]
  const command = [...head, ...block, 'STREAMS', stream, after]
  const shape = { firstKey: command.length - 2, keyCount: 1, bytes }
  return [command, wait === undefined ? shape : { ...shape, blocks: true }]
}

/** The entries in the reply of XREAD and XREADGROUP over one stream. */
export function entriesRead(reply: Reply): Reply {
  if (reply === null) return null
  const [stream = null] = arrayReply(reply)
  return arrayReply(stream)[1] ?? null
}

/** An id, or the name of a group or a consumer: bytes if the shape asks for them. */
export function idReply(reply: Reply): string {
  return String(storedReply(reply))
}

/** Reads a flat reply of name and value in turn; returns a function that gives a value by its name, nil if it is absent. */
export function namedReply(reply: Reply): (name: string) => Reply {
  const flat = arrayReply(reply)
  const byName = new Map(
    flat.flatMap((name, at) => (at % 2 === 0 ? [[String(name), flat[at + 1]!] as const] : [])),
  )
  return (name) => byName.get(name) ?? null
}
