import type { Codec } from '../codec/codec.ts'
import { type Argument, ONE_KEY, ONE_KEY_BYTES, type Reply, type Shape } from '../connection/connection.ts'
import { arrayReply, decodeReply } from '../connection/reply.ts'
import { ServerError } from '../connection/server-error.ts'
import { slotOf } from '../connection/slot.ts'
import { ScriptError } from '../errors.ts'
import { type Home, homeOf, Key } from './key.ts'
import type { KeySpec, Opening } from './kind.ts'
import { type WriteCommand, writeWithLifetime, type WriteOptions } from './write.ts'

/** What the collections of one entry share: the codec of their elements besides. */
export interface CollectionHome<T, In> extends Home {
  readonly codec: Codec<T, In>
  /** One key, answered as the codec wants it. */
  readonly shape: Shape
}

/** What the collections of one entry share. */
export function collectionHome<T, In>(
  spec: KeySpec,
  opening: Opening,
  codec: Codec<T, In>,
): CollectionHome<T, In> {
  return { ...homeOf(spec, opening), codec, shape: codec.bytes ? ONE_KEY_BYTES : ONE_KEY }
}

/** A key that holds many elements of one codec: a list, a set, a sorted set. */
export class Collection<T, In = T> extends Key {
  declare protected readonly home: CollectionHome<T, In>

  constructor(home: CollectionHome<T, In>, name: string) {
    super(home, name)
  }

  protected encodeAll(values: readonly In[]): Argument[] {
    const { codec } = this.home
    return values.map((value) => this.encode(codec, value))
  }

  /** The elements of a reply; a `DecodeError` names the key and the element, counted from `first` where they have places. */
  protected decodeAll(replies: Reply, first?: number): T[] {
    const { codec } = this.home
    return decodeReply(arrayReply, replies ?? [], this.name).map((stored, index) =>
      this.decode(codec, stored, first === undefined ? undefined : `element ${first + index}`),
    )
  }

  protected decodeOne(reply: Reply): T | undefined {
    return reply === null ? undefined : this.decode(this.home.codec, reply)
  }

  protected write(
    command: WriteCommand,
    values: readonly Argument[],
    options?: WriteOptions,
  ): Promise<Reply> {
    return writeWithLifetime(this.home, this.name, command, values, options)
  }
}

/** Whether the server, or a command inside a script, said no in these words. */
export function wasRefused(error: unknown, words: RegExp): boolean {
  const cause = error instanceof ScriptError ? error.cause : error
  return cause instanceof ServerError && words.test(cause.reply)
}

/** Throws, before anything is sent, where a cluster would refuse a command because its keys live in different slots. */
export function proveOneSlot({ connection }: Home, command: string, names: readonly string[]): void {
  if (!connection.cluster) return
  const other = names.find((name) => slotOf(name) !== slotOf(names[0]!))
  if (other !== undefined) {
    const reply = `CROSSSLOT ${JSON.stringify(other)} is in another slot`
    throw new ServerError(reply, command, names[0])
  }
}
