import { type Connection, ONE_KEY } from '../../connection/connection.ts'
import { GET_BYTES } from '../../connection/pipeline/reads.ts'
import { digits, flag, text } from '../../script/argument.ts'
import { booleanReply, bytesReply, decodeReply } from '../../connection/reply.ts'
import { script } from '../../script/script.ts'
import { extendLease, type HeldKey, releaseLease } from '../lease/token.ts'
import * as lua from './lua.gen.ts'

const conclude = script('cache/conclude', {
  keys: ['lock'],
  args: { owner: text, wake: flag, outcome: text, ttlMs: digits },
  lua: lua.conclude,
  commands: ['DEL', 'GET', 'PUBLISH', 'SET'],
  reply: booleanReply,
})

const takeOver = script('cache/take-over', {
  keys: ['lock'],
  args: { owner: text, outcome: text, ttlMs: digits },
  lua: lua.takeOver,
  commands: ['GET', 'SET'],
  reply: booleanReply,
})

const store = script('cache/store', {
  keys: ['entry', 'lock'],
  args: { owner: text, wake: flag, present: flag, seen: text, value: text, ttlMs: digits },
  lua: lua.store,
  commands: ['DEL', 'GET', 'PUBLISH', 'SET'],
  reply: booleanReply,
})

const limitLock = script('cache/limit-lock', {
  keys: ['lock'],
  args: { ttlMs: digits },
  lua: lua.limitLock,
  commands: ['PEXPIRE', 'PTTL'],
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
  readonly #held: HeldKey
  readonly #home: LockHome

  constructor(home: LockHome, name: string, owner: string) {
    this.#home = home
    this.#held = { key: name, token: owner }
  }

  /** Takes the lock if it is free; answers whether it did. */
  async take(): Promise<boolean> {
    const { connection, lockTtlMs } = this.#home
    const command = ['SET', this.#held.key, this.#held.token, 'NX', 'PX', String(lockTtlMs)]
    return (await connection.send(command, ONE_KEY)) !== null
  }

  /** What stands in the lock's place: the token of its holder, the outcome of a load, or nothing. */
  async look(): Promise<string | null> {
    const { key } = this.#held
    const stored = await this.#home.connection.send(['GET', key], GET_BYTES)
    return stored === null ? null : String(decodeReply(bytesReply, stored, key))
  }

  /** Takes the lock if nothing stands in its place but this outcome of an earlier load; answers whether it did. */
  takeOver(outcome: string): Promise<boolean> {
    const { connection, lockTtlMs } = this.#home
    return takeOver.run(
      connection,
      { lock: this.#held.key },
      { owner: this.#held.token, outcome, ttlMs: lockTtlMs },
    )
  }

  /** Holds it for another `lockTtl`; answers false where it has passed on. */
  renew(): Promise<boolean> {
    const { connection, lockTtlMs } = this.#home
    return extendLease(connection, this.#held, lockTtlMs)
  }

  /** Lets a lock end after `lockTtl` that has no end, whoever holds it. */
  async limit(): Promise<void> {
    const { connection, lockTtlMs } = this.#home
    await limitLock.run(connection, { lock: this.#held.key }, { ttlMs: lockTtlMs }).catch(() => {})
  }

  /** Gives it back, if it is still held. Where that fails it ends by itself, after `lockTtl`. */
  async release(): Promise<void> {
    const { connection, wakes } = this.#home
    await releaseLease(connection, this.#held, wakes).catch(() => {})
  }

  /** Gives it back, if it is still held, and leaves the outcome of the load in its place. */
  async conclude(outcome: string, ttlMs: number): Promise<void> {
    const { connection, wakes, lockTtlMs } = this.#home
    const given = { owner: this.#held.token, wake: wakes, outcome, ttlMs: Math.min(ttlMs, lockTtlMs) }
    await conclude.run(connection, { lock: this.#held.key }, given).catch(() => {})
  }

  /**
   * Writes an entry if the lock is held and the entry is as it was `seen`, and gives the lock back, in one step. Answers
   * whether it wrote.
   */
  store(
    entry: string,
    value: string | Uint8Array,
    seen: Buffer | undefined,
    ttlMs: number,
  ): Promise<boolean> {
    const { connection, wakes } = this.#home
    const given = {
      owner: this.#held.token,
      wake: wakes,
      present: seen !== undefined,
      seen: seen ?? '',
      value,
      ttlMs,
    }
    return store.run(connection, { entry, lock: this.#held.key }, given)
  }
}
