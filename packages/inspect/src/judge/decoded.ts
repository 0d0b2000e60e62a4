import type { Codec, KeySpec } from 'keyspec'
import { bytesReply, decodeStored, fieldsOf, type Reply } from 'keyspec/extend'
import { entriesReply } from '../scan/replies.ts'
import type { StoredValue } from '../scan/peek.ts'

/** An element of a value, and what its codec makes of it. */
export interface DecodedPart {
  /** The field, in a hash or an entry of a stream. */
  readonly field?: string
  /** Whether the field is declared by its name. */
  readonly named?: boolean
  /** The id of the stream's entry. */
  readonly id?: string
  /** The score, in a sorted set. */
  readonly score?: string
  readonly stored: Buffer
  /** The codec's name; `undefined` where the field is none that is declared. */
  readonly codec: string | undefined
  /** What it is; absent where the codec cannot read it, or where there is none. */
  readonly value?: unknown
  /** Whether the codec could not read it. */
  readonly failed: boolean
}

/** Reads what was peeked with the codecs that the entry declares. */
export function decoderOf(codec: KeySpec['codec']): (peeked: StoredValue) => Generator<DecodedPart> {
  if (typeof codec.decode === 'function') return (peeked) => elements(codec as Codec<any, any>, peeked)
  const byField = codec as { readonly [field: string]: Codec<any, any> }
  const fields = fieldsOf(byField)
  return function* (peeked) {
    if (peeked.type === 'stream') {
      for (const [id, flat] of entriesReply(peeked.elements)) {
        for (const part of inFields(flat)) yield { ...part, id: String(id) }
      }
    } else yield* inFields(peeked.elements)
  }

  function* inFields(flat: readonly Reply[]): Generator<DecodedPart> {
    for (let at = 0; at < flat.length; at += 2) {
      const field = String(flat[at])
      yield {
        ...decode(fields.at(field), bytesReply(flat[at + 1]!)),
        field,
        named: field !== '*' && Object.hasOwn(byField, field),
      }
    }
  }
}

/** Whether something stored could be wrong: where nothing could, no value need be read. */
export function mayFail(codec: KeySpec['codec']): boolean {
  const isOne = typeof codec.decode === 'function'
  const codecs = (isOne ? [codec] : Object.values(codec)) as readonly Codec<any, any>[]
  return codecs.some(({ total }) => total !== true)
}

/** Finds the first element that its codec cannot read; of values that are sound it keeps nothing. */
export function failureIn(codec: KeySpec['codec']): (value: StoredValue) => DecodedPart | undefined {
  const parts = decoderOf(codec)
  const isSound = soundness(codec)
  return (value) => {
    if (isSound(value)) return undefined
    for (const part of parts(value)) if (part.failed) return part
    return undefined
  }
}

/** Does something while errors take no stacks: of a million faulty values those would cost more than all else. */
export function withoutStacks<T>(work: () => T): T {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return work()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

function soundness(codec: KeySpec['codec']): (value: StoredValue) => boolean {
  if (typeof codec.decode === 'function') {
    const single = codec as Codec<any, any>
    return ({ type, elements: found }) => {
      const width = type === 'zset' || type === 'hash' ? 2 : 1
      for (let at = 0; at < found.length; at += width) {
        const element = found[at]
        if (element instanceof Buffer && !isReadable(single, element)) return false
      }
      return true
    }
  }
  const fields = fieldsOf(codec as { readonly [field: string]: Codec<any, any> })
  const inFields = (flat: readonly Reply[]) => {
    for (let at = 0; at < flat.length; at += 2) {
      const known = fields.at(String(flat[at]))
      if (known !== undefined && !isReadable(known, bytesReply(flat[at + 1]!))) return false
    }
    return true
  }
  return ({ type, elements: found }) =>
    type === 'stream' ? entriesReply(found).every(([, flat]) => inFields(flat)) : inFields(found)
}

function* elements(codec: Codec<any, any>, { type, elements }: StoredValue): Generator<DecodedPart> {
  const width = type === 'zset' || type === 'hash' ? 2 : 1
  for (let at = 0; at < elements.length; at += width) {
    const element = elements[at]
    if (!(element instanceof Buffer)) continue
    const part = decode(codec, element)
    yield type === 'zset' ? { ...part, score: String(elements[at + 1]) } : part
  }
}

function decode(codec: Codec<any, any> | undefined, stored: Buffer): DecodedPart {
  if (codec === undefined) return { stored, codec: undefined, failed: false }
  try {
    return { stored, codec: codec.name, value: decodeStored(codec, stored), failed: false }
  } catch {
    return { stored, codec: codec.name, failed: true }
  }
}

function isReadable(codec: Codec<any, any>, stored: Buffer): boolean {
  try {
    decodeStored(codec, stored)
    return true
  } catch {
    return false
  }
}
