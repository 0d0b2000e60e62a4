import type { Connection } from '../../connection/connection.ts'
import { digits, flag, text } from '../../script/argument.ts'
import { booleanReply } from '../../connection/reply.ts'
import { script } from '../../script/script.ts'
import { type Keeper, type Keeping, keepRenewed } from './keep-renewed.ts'
import { LeaseTerm } from './lease-term.ts'
import * as lua from './lua.gen.ts'

const extend = script('lease/extend', {
  keys: ['key'],
  args: { token: text, ttlMs: digits },
  lua: lua.extend,
  commands: ['GET', 'PEXPIRE'],
  reply: booleanReply,
})

const release = script('lease/release', {
  keys: ['key'],
  args: { token: text, wake: flag },
  lua: lua.release,
  commands: ['DEL', 'GET', 'PUBLISH'],
  reply: booleanReply,
})

/** What the leases of one entry share. */
export interface LeaseHome {
  readonly connection: Connection
  readonly ttlMs: number
  /** Whether others listen for a lease that is given back. */
  readonly wakes: boolean
}

/** A key that one holder has for a time: it holds the random token by which Redis knows the holder. */
export class TokenLease {
  readonly key: string
  readonly token: string
  readonly #home: LeaseHome
  /** None until it is acquired. */
  #term: LeaseTerm | undefined
  #keeper: Keeper | undefined

  constructor(home: LeaseHome, key: string, token: string) {
    this.#home = home
    this.key = key
    this.token = token
  }

  /** Asks for the lease, and counts its time from the question on if the answer says that the token holds the key. */
  async acquire<A>(ask: () => Promise<A>, isOurs: (answer: A) => boolean): Promise<A> {
    const term = new LeaseTerm(performance.now(), this.#home.ttlMs)
    const answer = await ask()
    if (isOurs(answer)) this.#term = term
    return answer
  }

  /** How much of the lease is left in ms, as far as this process can reckon it; see `LeaseTerm`. */
  get leftMs(): number {
    return this.#term?.leftMs ?? 0
  }

  /** Calls `changed` whenever `leftMs` was set to something else than what time makes of it. */
  watch(changed: () => void): void {
    this.#term?.watch(changed)
  }

  /** Lets the lease end in `ttlMs`; answers false if the token no longer holds the key. */
  async extend(ttlMs = this.#home.ttlMs, over = this.#home.connection): Promise<boolean> {
    const { key, token } = this
    const answered = this.#term?.ask(ttlMs)
    const ours = await extend.run(over, { key }, { token, ttlMs })
    answered?.(ours)
    return ours
  }

  /** Keeps the lease until it ends here, or is lost; `extendNow` is how its holder extends it. */
  keep(keeping: Keeping, extendNow = () => this.extend()): void {
    this.#keeper = keepRenewed(extendNow, this.#home.ttlMs, keeping)
  }

  /** Keeps the lease no longer. */
  stopKeeping(): void {
    this.#keeper?.stop()
  }

  /** Gives the lease back, and wakes those who wait for it; answers false if the token no longer held the key. */
  async giveBack(
    send: (give: (over: Connection) => Promise<boolean>) => Promise<boolean> = (give) =>
      give(this.#home.connection),
  ): Promise<boolean> {
    const { key, token } = this
    this.end()
    return send((over) => release.run(over, { key }, { token, wake: this.#home.wakes }))
  }

  /** Counts the lease as over from now on, and keeps it no longer: another script gives it back. */
  end(): void {
    this.stopKeeping()
    this.#term?.end()
  }
}
