import { Tally } from './tally.ts'

const MOST_GROUPS = 500

/** Tallies by name, a bounded number of them: the rarest give way. */
export class Groups {
  readonly #byName = new Map<string | undefined, Tally>()
  #rest: Tally | undefined

  at(name: string | undefined): Tally {
    let tally = this.#byName.get(name)
    if (tally === undefined) {
      if (this.#byName.size >= MOST_GROUPS) this.#makeRoom()
      this.#byName.set(name, (tally = new Tally()))
    }
    return tally
  }

  /** What all of them have counted: no key is in two. */
  together(): Tally {
    const all = new Tally()
    for (const [, tally] of this.named()) all.join(tally)
    return all
  }

  *named(): Generator<[string | undefined, Tally]> {
    yield* this.#byName
    if (this.#rest !== undefined) yield [undefined, this.#rest]
  }

  /** The rarer half goes to the rest: a group that is large comes back soon, having lost little. */
  #makeRoom(): void {
    const byCount = [...this.#byName].sort(([, a], [, b]) => a.count - b.count)
    this.#rest ??= new Tally()
    for (const [name, tally] of byCount.slice(0, MOST_GROUPS / 2)) {
      this.#rest.join(tally)
      this.#byName.delete(name)
    }
  }
}
