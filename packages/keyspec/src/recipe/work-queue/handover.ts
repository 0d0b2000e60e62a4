import type { Connection } from '../../connection/connection.ts'
import { after } from '../../timer.ts'
import type { QueueNames } from './layout.ts'
import * as scripts from './scripts.ts'

/** How long a worker's own verbs may take to show that it has a job, before a command of its own says so. */
const CONFIRM_MS = 20
const STEP = 1000

interface Given {
  readonly names: QueueNames
  readonly worker: string
  readonly ids: Set<string>
}

/**
 * The jobs that workers of this process were given, and that the server does not know to have arrived. A reply can be lost,
 * and a lease that then runs out must not count as an attempt. Most jobs are finished or renewed at once, which says it
 * too; the others are confirmed by one command for all, 20 ms later at the most.
 */
export class Handover {
  readonly #connection: Connection
  readonly #given = new Map<string, Given>()
  readonly #isTimed: boolean
  #isArmed = false

  /** @param isTimed False in a test that names its instants: it confirms by itself. */
  constructor(connection: Connection, isTimed: boolean) {
    this.#connection = connection
    this.#isTimed = isTimed
  }

  /** Notes jobs that arrived. */
  arrived(names: QueueNames, worker: string, ids: readonly string[]): void {
    if (ids.length === 0) return
    const place = `${names.waiting}\0${worker}`
    let given = this.#given.get(place)
    if (given === undefined) this.#given.set(place, (given = { names, worker, ids: new Set() }))
    for (const id of ids) given.ids.add(id)
    if (this.#isArmed || !this.#isTimed) return
    this.#isArmed = true
    after(
      CONFIRM_MS,
      () => {
        this.#isArmed = false
        void this.confirm()
      },
      { keepsAlive: false },
    )
  }

  /** Forgets jobs that the worker names to the server by itself. */
  named(names: QueueNames, worker: string, ids: Iterable<string>): void {
    const place = `${names.waiting}\0${worker}`
    const given = this.#given.get(place)
    if (given === undefined) return
    for (const id of ids) given.ids.delete(id)
  }

  /** Confirms all that is noted. A failure is no error: the lease then counts as one of a lost reply. */
  async confirm(): Promise<void> {
    const all = [...this.#given.values()]
    this.#given.clear()
    const sent: Promise<unknown>[] = []
    for (const { names, worker, ids } of all) {
      const list = [...ids] // empty if the worker named them all
      for (let from = 0; from < list.length; from += STEP) {
        sent.push(
          scripts.confirm.run(this.#connection, names, { worker, ids: list.slice(from, from + STEP) }),
        )
      }
    }
    await Promise.allSettled(sent)
  }
}
