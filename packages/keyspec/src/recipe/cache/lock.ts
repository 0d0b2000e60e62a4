import { ONE_KEY } from '../../connection/connection.ts'
import { GET_BYTES } from '../../connection/pipeline/reads.ts'
import { digits, flag, text } from '../../script/argument.ts'
import { booleanReply, bytesReply, decodeReply } from '../../connection/reply.ts'
import { script } from '../../script/script.ts'
import { type LeaseHome, TokenLease } from '../lease/token-lease.ts'
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

/** The right to load one entry, held by whoever wrote its random token into the lock's key. */
export class Lock {
  readonly #home: LeaseHome
  readonly #lease: TokenLease

  constructor(home: LeaseHome, name: string, owner: string) {
    this.#home = home
    this.#lease = new TokenLease(home, name, owner)
  }

  /** Takes the lock if it is free; answers whether it did. */
  take(): Promise<boolean> {
    const { connection, ttlMs } = this.#home
    const { key, token } = this.#lease
    const command = ['SET', key, token, 'NX', 'PX', String(ttlMs)]
    return this.#acquire(async () => (await connection.send(command, ONE_KEY)) !== null)
  }

  /** What stands in the lock's place: the token of its holder, the outcome of a load, or nothing. */
  async look(): Promise<string | null> {
    const { key } = this.#lease
    const stored = await this.#home.connection.send(['GET', key], GET_BYTES)
    return stored === null ? null : String(decodeReply(bytesReply, stored, key))
  }

  /** Takes the lock if nothing stands in its place but this outcome of an earlier load; answers whether it did. */
  takeOver(outcome: string): Promise<boolean> {
    const { connection, ttlMs } = this.#home
    const { key, token } = this.#lease
    return this.#acquire(() => takeOver.run(connection, { lock: key }, { owner: token, outcome, ttlMs }))
  }

  /** Renews it until it is given back. */
  keep(): void {
    // One that is lost is found out when the entry is written.
    this.#lease.keep({ lost() {} })
  }

  /** Lets a lock end after `lockTtl` that has no end, whoever holds it. */
  async limit(): Promise<void> {
    const { connection, ttlMs } = this.#home
    await limitLock.run(connection, { lock: this.#lease.key }, { ttlMs }).catch(() => {})
  }

  /** Gives it back, if it is still held. Where that fails it ends by itself, after `lockTtl`. */
  async release(): Promise<void> {
    await this.#lease.giveBack().catch(() => {})
  }

  /** Gives it back, if it is still held, and leaves the outcome of the load in its place. */
  async conclude(outcome: string, outcomeMs: number): Promise<void> {
    const { connection, ttlMs } = this.#home
    const given = { outcome, ttlMs: Math.min(outcomeMs, ttlMs) }
    await this.#end((owner) =>
      conclude.run(connection, { lock: this.#lease.key }, { ...owner, ...given }),
    ).catch(() => {})
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
    const { connection } = this.#home
    const given = { present: seen !== undefined, seen: seen ?? '', value, ttlMs }
    return this.#end((owner) =>
      store.run(connection, { entry, lock: this.#lease.key }, { ...owner, ...given }),
    )
  }

  #acquire(ask: () => Promise<boolean>): Promise<boolean> {
    return this.#lease.acquire(ask, (ours) => ours)
  }

  /** Ends the lease by a script that gives the lock back itself. */
  #end<A>(run: (owner: { readonly owner: string; readonly wake: boolean }) => Promise<A>): Promise<A> {
    this.#lease.end()
    return run({ owner: this.#lease.token, wake: this.#home.wakes })
  }
}
