import { type Connection, ONE_KEY } from '../../connection/connection.ts'
import { slotOf } from '../../connection/slot.ts'
import { digits, flag, text } from '../../script/argument.ts'
import { booleanReply } from '../../script/reply.ts'
import { script } from '../../script/script.ts'
import * as lua from './lua.gen.ts'

const renew = script('cache/renew', {
  keys: ['lock'],
  args: { owner: text, ttlMs: digits },
  lua: lua.renew,
  reply: booleanReply,
})

const release = script('cache/release', {
  keys: ['lock'],
  args: { owner: text, wake: flag },
  lua: lua.release,
  reply: booleanReply,
})

const store = script('cache/store', {
  keys: ['entry', 'lock*'],
  args: { owner: text, wake: flag, present: flag, seen: text, value: text, ttlMs: digits },
  lua: lua.store,
  reply: booleanReply,
})

/** What the loads of one cache share with its locks. */
export interface LockHome {
  readonly connection: Connection
  readonly lockTtlMs: number
  /** Whether others listen for a lock that is given back. */
  readonly wakes: boolean
}

/** The right to load one entry, held by whoever wrote its random token into the lock's key. */
export class Lock {
  readonly name: string
  readonly #owner: string
  readonly #home: LockHome

  constructor(home: LockHome, name: string, owner: string) {
    this.#home = home
    this.name = name
    this.#owner = owner
  }

  /** Takes the lock if it is free; answers whether it did. */
  async take(): Promise<boolean> {
    const { connection, lockTtlMs } = this.#home
    const command = ['SET', this.name, this.#owner, 'NX', 'PX', String(lockTtlMs)]
    return (await connection.send(command, ONE_KEY)) !== null
  }

  /** Holds it for another `lockTtl`; answers false where it has passed on. */
  renew(): Promise<boolean> {
    const { connection, lockTtlMs } = this.#home
    return renew.run(connection, { lock: this.name }, { owner: this.#owner, ttlMs: lockTtlMs })
  }

  /** Gives it back, if it is still held. Where that fails it ends by itself, after `lockTtl`. */
  async release(): Promise<void> {
    const { connection, wakes } = this.#home
    await release.run(connection, { lock: this.name }, { owner: this.#owner, wake: wakes }).catch(() => {})
  }

  /**
   * Writes an entry if the lock is held and the entry is as it was `seen`, then gives the lock back: one step, unless a
   * cluster keeps the two in different slots. Then the lock is asked first, so what happens to it within that round trip
   * goes unnoticed. Answers whether it wrote.
   */
  async store(
    entry: string,
    value: string | Uint8Array,
    seen: Buffer | null,
    ttlMs: number,
  ): Promise<boolean> {
    const { connection, wakes } = this.#home
    const given = {
      owner: this.#owner,
      wake: wakes,
      present: seen !== null,
      seen: seen ?? '',
      value,
      ttlMs,
    }
    if (!connection.cluster || slotOf(entry) === slotOf(this.name))
      return store.run(connection, { entry, lock: [this.name] }, given)
    const stored = (await this.renew()) && (await store.run(connection, { entry, lock: [] }, given))
    await this.release()
    return stored
  }
}
