import { ALL_KEYS, type Connection, type Reply } from '../connection/connection.ts'
import { decodeReply, integerReply } from '../connection/reply.ts'
import type { Key } from './key.ts'

/** Many keys of one entry. */
export class Many<K> implements Iterable<K> {
  protected readonly keys: readonly K[]
  protected readonly connection: Connection

  constructor(keys: readonly K[], connection: Connection) {
    this.keys = keys
    this.connection = connection
  }

  [Symbol.iterator](): Iterator<K> {
    return this.keys[Symbol.iterator]()
  }

  /** How many of them exist. */
  async exists(): Promise<number> {
    return this.#count('EXISTS')
  }

  /** Deletes them, freeing their memory in the background (UNLINK); answers how many there were. */
  async delete(): Promise<number> {
    return this.#count('UNLINK')
  }

  // One command a key on a cluster, where they may live in different slots; the client pipelines them.
  async #count(command: string): Promise<number> {
    const names = this.keys.map((key) => (key as Key).name)
    const most = this.connection.cluster ? 1 : 512
    const sent: Promise<Reply>[] = []
    for (let at = 0; at < names.length; at += most) {
      sent.push(this.connection.send([command, ...names.slice(at, at + most)], ALL_KEYS))
    }
    return (await Promise.all(sent)).reduce<number>((sum, count) => sum + decodeReply(integerReply, count), 0)
  }
}
