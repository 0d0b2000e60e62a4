import { type Connection, ONE_KEY } from '../../connection/connection.ts'
import { GET_BYTES } from '../../connection/pipeline/reads.ts'
import { digits, flag, text } from '../../script/argument.ts'
import { booleanReply } from '../../script/reply.ts'
import { script } from '../../script/script.ts'
import * as lua from './lua.gen.ts'

const renew = script('cache/renew', {
  keys: ['lock'],
  args: { owner: text, ttlMs: digits },
  lua: lua.renew,
  commands: ['GET', 'PEXPIRE'],
  reply: booleanReply,
})

const release = script('cache/release', {
  keys: ['lock'],
  args: { owner: text, wake: flag },
  lua: lua.release,
  commands: ['DEL', 'GET', 'PUBLISH'],
  reply: booleanReply,
})

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

  /** What stands in the lock's place: the token of its holder, the outcome of a load, or nothing. */
  async look(): Promise<string | null> {
    const stored = (await this.#home.connection.send(['GET', this.name], GET_BYTES)) as Buffer | null
    return stored === null ? null : String(stored)
  }

  /** Takes the lock if nothing stands in its place but this outcome of an earlier load; answers whether it did. */
  takeOver(outcome: string): Promise<boolean> {
    const { connection, lockTtlMs } = this.#home
    return takeOver.run(connection, { lock: this.name }, { owner: this.#owner, outcome, ttlMs: lockTtlMs })
  }

  /** Holds it for another `lockTtl`; answers false where it has passed on. */
  renew(): Promise<boolean> {
    const { connection, lockTtlMs } = this.#home
    return renew.run(connection, { lock: this.name }, { owner: this.#owner, ttlMs: lockTtlMs })
  }

  /** Lets a lock end after `lockTtl` that has no end, whoever holds it. */
  async limit(): Promise<void> {
    const { connection, lockTtlMs } = this.#home
    await limitLock.run(connection, { lock: this.name }, { ttlMs: lockTtlMs }).catch(() => {})
  }

  /** Gives it back, if it is still held. Where that fails it ends by itself, after `lockTtl`. */
  async release(): Promise<void> {
    const { connection, wakes } = this.#home
    await release.run(connection, { lock: this.name }, { owner: this.#owner, wake: wakes }).catch(() => {})
  }

  /** Gives it back, if it is still held, and leaves the outcome of the load in its place. */
  async conclude(outcome: string, ttlMs: number): Promise<void> {
    const { connection, wakes, lockTtlMs } = this.#home
    const given = { owner: this.#owner, wake: wakes, outcome, ttlMs: Math.min(ttlMs, lockTtlMs) }
    await conclude.run(connection, { lock: this.name }, given).catch(() => {})
  }

  /**
   * Writes an entry if the lock is held and the entry is as it was `seen`, and gives the lock back, in one step. Answers
   * whether it wrote.
   */
  store(entry: string, value: string | Uint8Array, seen: Buffer | null, ttlMs: number): Promise<boolean> {
    const { connection, wakes } = this.#home
    const given = {
      owner: this.#owner,
      wake: wakes,
      present: seen !== null,
      seen: seen ?? '',
      value,
      ttlMs,
    }
    return store.run(connection, { entry, lock: this.name }, given)
  }
}
