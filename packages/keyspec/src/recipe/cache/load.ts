import { Batch } from './batch.ts'
import { Flight, type Landing, type LoadAll, type Loaded, type LoadsHome, type Params } from './flight.ts'
import { untilAborted } from './until-aborted.ts'

/** An entry that somebody asks for and that was not there. */
export interface Missing<P> {
  readonly name: string
  readonly params: P
}

/** How entries are asked for. */
export interface Asking {
  readonly signal: AbortSignal | undefined
  readonly reachable: boolean
  /** The latest moment when the call began, before it read anything. */
  readonly began: number
}

/**
 * The loads that this process has under way. A call for an entry that is being loaded shares the load, unless the load read
 * its source before the call began and could not be kept: a delete may have come between, so the call loads again.
 */
export class Loads<T, In> {
  readonly #home: LoadsHome<T, In>
  readonly #flights = new Map<string, Flight>()

  constructor(home: LoadsHome<T, In>) {
    this.#home = home
  }

  /** The loaded forms of these entries, in their order: those that are not under way yet are loaded together. */
  async ask<P extends Params>(
    missing: readonly Missing<P>[],
    load: LoadAll<P, In | undefined>,
    asking: Asking,
  ): Promise<Loaded[]> {
    const flights = this.#board(missing, load, asking)
    const landings = await this.#landed(flights, asking.signal)
    const answers = landings.map(({ loaded }) => loaded)
    const late = missing.flatMap((_, index) => (asking.began < landings[index]!.asOf ? [] : [index]))
    if (late.length === 0) return answers
    // These flights began before the call. Any that follows them in its place began after it: one more round is enough.
    const left = new Set(late.map((index) => flights[index]!))
    const again = this.#board(
      late.map((index) => missing[index]!),
      load,
      asking,
      left,
    )
    for (const [at, { loaded }] of (await this.#landed(again, asking.signal)).entries())
      answers[late[at]!] = loaded
    return answers
  }

  /** Later calls do not share the load of this entry that is under way. */
  forget(name: string): void {
    this.#flights.delete(name)
  }

  /** The flights of these entries: those under way, but for those to be `left`, and one batch of new ones for the others. */
  #board<P extends Params>(
    missing: readonly Missing<P>[],
    load: LoadAll<P, In | undefined>,
    { reachable }: Asking,
    left?: ReadonlySet<Flight>,
  ): Flight[] {
    const fresh = new Map<string, Flight<P>>()
    const batch = new Batch(this.#home, fresh, load)
    const flights = missing.map(({ name, params }) => {
      const under = this.#flights.get(name)
      if (under !== undefined && left?.has(under) !== true) {
        if (under.batch !== batch) this.#home.stats.waits += 1
        return under
      }
      const flight = new Flight(name, params, batch)
      fresh.set(name, flight)
      this.#flights.set(name, flight)
      // Nobody may be left to hear of a failure.
      flight.done.catch(() => {}).finally(() => this.#forget(flight))
      return flight
    })
    for (const each of batchesOf(flights)) each.askers += 1
    for (const { name, waitsFor } of left ?? []) {
      const next = fresh.get(name)
      if (next !== undefined) next.waitsFor = waitsFor
    }
    if (fresh.size > 0) void batch.run(reachable)
    return flights
  }

  #landed(flights: readonly Flight[], signal: AbortSignal | undefined): Promise<Landing[]> {
    const all = Promise.all(flights.map((flight) => flight.done))
    if (signal === undefined) return all
    return untilAborted(all, signal, () => {
      for (const each of batchesOf(flights)) if (each.leave(signal.reason)) this.#abandon(each)
    })
  }

  #abandon(batch: Flight['batch']): void {
    for (const flight of this.#flights.values()) if (flight.batch === batch) this.#flights.delete(flight.name)
  }

  #forget(flight: Flight): void {
    if (this.#flights.get(flight.name) === flight) this.#flights.delete(flight.name)
  }
}

function batchesOf(flights: readonly Flight[]): ReadonlySet<Flight['batch']> {
  return new Set(flights.map((flight) => flight.batch))
}
