import type { Codec } from '../../codec/codec.ts'
import type { Connection, Subscriber } from '../../connection/connection.ts'
import type { Lifetime } from '../../kind/lifetime.ts'
import type { LeaseHome } from '../lease/token-lease.ts'
import type { Lock } from './lock.ts'
import type { CacheStats } from './stats.ts'

/** The values of an entry's placeholders. */
export type Params = Readonly<Record<string, unknown>>

/** What loads the values of several entries at once, each at the place of its entry; `undefined` is not kept. */
export type LoadAll<P, V> = (
  missing: readonly P[],
  signal: AbortSignal,
) => Promise<readonly (V | undefined)[]>

/** What a load gave: the form it has in Redis, so that everybody reads a value of his own; `undefined` for none. */
export type Loaded = string | Uint8Array | undefined

/** What a flight ends with. */
export interface Landing {
  readonly loaded: Loaded
  /**
   * The moment up to which a call may have begun to be given this. A read of Redis counts from when it was sent, a load from
   * when it was called; a load that was kept, from when it was written: no delete came between the two.
   */
  readonly asOf: number
}

/** Orders what happens in this process: the beginnings of calls, and the questions whose answers they may share. */
export interface Moments {
  latest: number
}

/** What the loads of one cache share. */
export interface LoadsHome<T, In> {
  /** What the locks share. */
  readonly lock: LeaseHome
  readonly connection: Connection
  readonly codec: Codec<T, In>
  readonly lifetime: Lifetime
  readonly stats: { -readonly [N in keyof CacheStats]: CacheStats[N] }
  readonly lockNameOf: (params: Params) => string
  readonly moments: Moments
  readonly subscriber: Subscriber | undefined
  readonly loadTimeoutMs: number
  /** How long all who ask are told that a load failed, or gave nothing; `undefined`: only those who waited for it are. */
  readonly failureTtlMs: number | undefined
  readonly absenceTtlMs: number | undefined
}

/** The calls that wait for entries which are loaded together. */
export interface Askers {
  askers: number
  /** Removes one of them, and returns whether it was the last: then the load is abandoned. */
  leave(reason: unknown): boolean
}

/** One entry under way. */
export class Flight<P extends Params = any> {
  readonly name: string
  readonly params: P
  readonly batch: Askers
  readonly done: Promise<Landing>
  resolve!: (landing: Landing) => void
  reject!: (error: unknown) => void
  /** What stood in the entry when the lock was taken: nothing, or what the codec could not read. */
  seen: Buffer | undefined
  lock: Lock | undefined
  /** The token of the load that is waited for: the lock held it when it was last read. Its outcome is the flight's. */
  waitsFor: string | undefined

  constructor(name: string, params: P, batch: Askers) {
    this.name = name
    this.params = params
    this.batch = batch
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }
}
