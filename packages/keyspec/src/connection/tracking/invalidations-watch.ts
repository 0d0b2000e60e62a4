import { reason, SchemaError } from '../../errors.ts'
import { after } from '../../timer.ts'
import { type Connection, NO_KEY } from '../connection.ts'
import { type Invalidations, runIdIn } from './invalidations.ts'
import { isUnavailable } from '../server-error.ts'

const BEAT_MS = 1000
/** For how long after a question that was answered what is kept is served. */
const TRUSTED_MS = 3000

/** Keeps copies of keys, which it drops when it is told to. */
export interface Follower {
  /** This key was changed. */
  drop(key: string): void
  /** Any key may have been. */
  clear(): void
}

const watched = new WeakSet<Invalidations>()

/**
 * Follows what changes in Redis, and says whether that can be relied upon. It can be while the server that we read from (by
 * its `run_id`) tells us of all changes, and has answered a question over that very connection that is not older than
 * 3 s. One who wakes from a long sleep thus trusts nothing until he has heard again what happened meanwhile.
 */
export class Watch {
  /** Until when copies may be served, in the time of `performance.now()`; 0 while nothing is told. */
  trustedUntil = 0
  /** Whether the connection that we read from leads to the server that tells us, so that what it answers may be kept. */
  keeps = false
  readonly #invalidations: Invalidations
  readonly #connection: Connection
  readonly #followers: Follower[] = []
  readonly #prefixes = new Set<string>()
  #connected = false
  #warned = false
  /** Which connection, and which attempt on it: what was begun in an earlier one no longer counts. */
  #session = 0
  /** The attempt before: a client may send what is left of it over the next connection, where it must not come between. */
  #tracking: Promise<unknown> = Promise.resolve()

  constructor(invalidations: Invalidations, connection: Connection) {
    if (connection.cluster)
      throw new SchemaError(
        'invalidations can be followed on one server (or a Sentinel set) and not on a cluster: ' +
          'leave them out, and its near entries read Redis',
      )
    if (watched.has(invalidations))
      throw new SchemaError(
        'these invalidations serve another keyspace already: give each keyspace a connection of its own',
      )
    this.#invalidations = invalidations
    this.#connection = connection
  }

  /** Tells the follower of all keys with this prefix that change. */
  follow(prefix: string, follower: Follower): void {
    this.#prefixes.add(prefix)
    this.#followers.push(follower)
  }

  /** Begins to listen, once all who follow are known. */
  start(): void {
    if (this.#followers.length === 0) return
    watched.add(this.#invalidations)
    this.#invalidations.listen({
      connected: () => {
        this.#connected = true
        void this.#begin()
      },
      lost: () => {
        this.#connected = false
        this.#end()
      },
      changed: (key) => {
        for (const follower of this.#followers) {
          if (key === undefined) follower.clear()
          else follower.drop(key)
        }
      },
    })
  }

  #end(): void {
    this.#session += 1
    this.trustedUntil = 0
    this.keeps = false
    for (const follower of this.#followers) follower.clear()
  }

  async #begin(): Promise<void> {
    this.#end()
    const session = this.#session
    const askedAt = performance.now()
    try {
      const [tells, answers] = await Promise.all([this.#track(session), this.#whoAnswers()])
      if (session !== this.#session) return
      if (tells !== answers) return this.#later(session, () => this.#begin()) // a failover is under way
      this.trustedUntil = askedAt + TRUSTED_MS
      this.keeps = true
      this.#each(session, async () => {
        const askedAt = performance.now()
        await this.#invalidations.ping()
        if (session === this.#session) this.trustedUntil = askedAt + TRUSTED_MS
      })
      this.#each(session, () => this.#compare(session, tells))
    } catch (error) {
      if (session !== this.#session) return
      this.#warn(error)
      this.#later(session, () => this.#begin())
    }
  }

  #track(session: number): Promise<string> {
    const tracked = this.#tracking.then(() => {
      if (session !== this.#session) throw new Error('another connection has come since')
      return this.#invalidations.track(apart(this.#prefixes))
    })
    this.#tracking = tracked.catch(() => {})
    return tracked
  }

  /** The connection we read from may lead elsewhere by now, and tells nobody. */
  async #compare(session: number, tells: string): Promise<void> {
    try {
      const answers = await this.#whoAnswers()
      if (session !== this.#session) return
      if (answers === tells) this.keeps = true
      else void this.#begin()
    } catch {
      // What is kept stays true while we are told of changes; but who will answer next is not known.
      if (session === this.#session) this.keeps = false
    }
  }

  async #whoAnswers(): Promise<string> {
    return runIdIn(await this.#connection.send(['INFO', 'server'], NO_KEY))
  }

  #each(session: number, work: () => Promise<void>): void {
    this.#later(session, () => {
      void work()
        .catch(() => {})
        .then(() => this.#each(session, work))
    })
  }

  #later(session: number, work: () => unknown): void {
    const turn = () => {
      if (session === this.#session && this.#connected) work()
    }
    after(BEAT_MS, turn, { keepsAlive: false })
  }

  #warn(error: unknown): void {
    if (this.#warned || isUnavailable(error)) return
    this.#warned = true
    process.emitWarning(`near copies are not used, and Redis is read each time: ${reason(error)}`, {
      type: 'KeyspecWarning',
    })
  }
}

/** Without those that another one covers: Redis refuses prefixes of one connection that overlap. */
function apart(prefixes: ReadonlySet<string>): string[] {
  const all = [...prefixes]
  return all.filter((prefix) => !all.some((other) => other !== prefix && prefix.startsWith(other)))
}
