import type { Codec } from '../codec/codec.ts'
import { type Command, type Connection, ONE_KEY, type Reply, type Shape } from '../connection/connection.ts'
import { decodeStored } from '../codec/readable.ts'
import { decodeReply, integerReply, storedReply } from '../connection/reply.ts'
import { type Duration, milliseconds } from '../duration.ts'
import { DecodeError, EncodeError } from '../errors.ts'
import { ILL_FORMED } from '../pattern.ts'
import { type Lifetime, ttlFor } from './lifetime.ts'
import type { KeySpec, Opening } from './kind.ts'

/** What the keys of one entry share: made once, when the keyspace is opened. */
export interface Home {
  readonly connection: Connection
  readonly lifetime: Lifetime
  /** Reads renew the time to live. */
  readonly renewsOnRead: boolean
  readonly now: (() => number) | undefined
}

/** What the keys of one entry share. */
export function homeOf(spec: KeySpec, { connection, now }: Opening): Home {
  const { lifetime } = spec
  return {
    connection,
    lifetime,
    renewsOnRead: lifetime.ttlMs !== 'forever' && lifetime.renew === 'read',
    now,
  }
}

/** A key of an open keyspace, whatever its type: its name, its existence, its time to live. */
export class Key {
  /** The name of the key in Redis, prefix and all. */
  readonly name: string
  protected readonly home: Home

  constructor(home: Home, name: string) {
    this.home = home
    this.name = name
  }

  /** Whether the key exists. */
  async exists(): Promise<boolean> {
    return (await this.send(['EXISTS', this.name], ONE_KEY)) === 1
  }

  /** Deletes the key, freeing its memory in the background (UNLINK); answers whether it existed. */
  async delete(): Promise<boolean> {
    return (await this.send(['UNLINK', this.name], ONE_KEY)) === 1
  }

  /** The time to live in ms, `'forever'` where the key has none, `undefined` where there is no key. */
  async ttlMs(): Promise<number | 'forever' | undefined> {
    const ttl = decodeReply(integerReply, await this.send(['PTTL', this.name], ONE_KEY), this.name)
    return ttl === -2 ? undefined : ttl === -1 ? 'forever' : ttl
  }

  /** Starts the declared lifetime anew; answers whether the key exists. A key declared forever loses its time to live. */
  async renew(): Promise<boolean> {
    const ttl = ttlFor(this.home.lifetime)
    if (ttl === 0) {
      await this.send(['PERSIST', this.name], ONE_KEY)
      return this.exists()
    }
    return (await this.send(['PEXPIRE', this.name, String(ttl)], ONE_KEY)) === 1
  }

  /** Lets the key end sooner (or later) than declared: this long from now. Answers whether the key exists. */
  async expireIn(duration: Duration): Promise<boolean> {
    return (await this.send(['PEXPIRE', this.name, String(milliseconds(duration))], ONE_KEY)) === 1
  }

  protected send(command: Command, shape: Shape): Promise<Reply> {
    return this.home.connection.send(command, shape)
  }

  /** Sends a read, and with it the renewal of the time to live where reads renew it. */
  protected read(command: Command, shape: Shape): Promise<Reply> {
    const reply = this.send(command, shape)
    return this.home.renewsOnRead ? this.#renewed(reply) : reply
  }

  async #renewed(reply: Promise<Reply>): Promise<Reply> {
    // What was read is the answer even where nothing can be written, as on a replica.
    const renewal = this.renew().catch(() => false)
    const answer = await reply
    await renewal
    return answer
  }

  /** The stored form of a value; an `EncodeError` names the key, and nothing is sent. */
  protected encode<T>(codec: Codec<any, T>, value: T, where?: string): string | Uint8Array {
    let stored: string | Uint8Array
    try {
      stored = codec.encode(value)
    } catch (error) {
      throw new EncodeError(this.name, described(codec, where), error, value)
    }
    // Every lone surrogate becomes the same bytes in UTF-8.
    if (typeof stored === 'string' && !stored.isWellFormed())
      throw new EncodeError(this.name, described(codec, where), new TypeError(ILL_FORMED))
    return stored
  }

  /** The value of a stored form, be it text or bytes; a `DecodeError` names the key, and `where` in it. */
  protected decode<T>(codec: Codec<T, any>, stored: Reply, where?: string): T {
    const form = decodeReply(storedReply, stored, this.name)
    try {
      return decodeStored(codec, form)
    } catch (error) {
      throw new DecodeError(this.name, described(codec, where), error, stored)
    }
  }
}

function described(codec: Codec<any, any>, where: string | undefined): string {
  return where === undefined ? codec.name : `${codec.name} at ${where}`
}
