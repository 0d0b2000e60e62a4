import type { Connection } from '../../connection/connection.ts'
import { isUnavailable } from '../../connection/server-error.ts'
import { type Duration, milliseconds } from '../../duration.ts'
import { digits, flag, text } from '../../script/argument.ts'
import { booleanReply } from '../../script/reply.ts'
import { script } from '../../script/script.ts'
import * as lua from './lua.gen.ts'

const extend = script('lock/extend', {
  keys: ['key'],
  args: { token: text, ttlMs: digits },
  lua: lua.extend,
  reply: booleanReply,
})

const release = script('lock/release', {
  keys: ['key'],
  args: { token: text, wake: flag },
  lua: lua.release,
  reply: booleanReply,
})

/** What the locks of one entry share. */
export interface LockHome {
  readonly connection: Connection
  readonly ttlMs: number
  readonly proceeds: boolean
  /** Whether others listen for a lock that is given back. */
  readonly wakes: boolean
}

/** A lock that is held: until it is released, or its time is over. */
export class Held<Fence extends number | undefined = number | undefined> {
  readonly acquired = true
  /** False where Redis was away and the work goes on without a lock: others may do the same. */
  readonly exclusive: boolean
  /** Higher than that of every earlier holder: give it to what you write to, which refuses a lower one than it has seen. */
  readonly fence: Fence
  /** The random text by which Redis knows this holder. */
  readonly token: string
  readonly #home: LockHome
  readonly #key: string
  #until: number

  constructor(
    home: LockHome,
    key: string,
    { token, fence, until, exclusive }: { token: string; fence: Fence; until: number; exclusive: boolean },
  ) {
    this.#home = home
    this.#key = key
    this.token = token
    this.fence = fence
    this.exclusive = exclusive
    this.#until = until
  }

  /** How long it is held for certain, in ms, without asking Redis: 0 once its time is over. */
  get leftMs(): number {
    return this.exclusive ? Math.max(0, this.#until - performance.now()) : 0
  }

  /** Lets it end this long from now (the declared `ttl` unless said otherwise). False where it is no longer ours. */
  async extend(duration?: Duration): Promise<boolean> {
    const { connection, ttlMs } = this.#home
    const ms = duration === undefined ? ttlMs : milliseconds(duration)
    const asked = performance.now()
    const ours = await extend.run(connection, { key: this.#key }, { token: this.token, ttlMs: ms })
    this.#until = ours ? asked + ms : 0
    return ours
  }

  /** Gives it back. False where it was no longer ours: then it was left as it is. */
  async release(): Promise<boolean> {
    try {
      return await this.giveBack()
    } catch (error) {
      if (this.#home.proceeds && isUnavailable(error)) return false
      throw error
    }
  }

  /** @internal `release`, which rejects wherever Redis is away. */
  giveBack(): Promise<boolean> {
    const { connection, wakes } = this.#home
    this.#until = 0
    return release.run(connection, { key: this.#key }, { token: this.token, wake: wakes })
  }
}
