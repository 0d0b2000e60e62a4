import type { Fault } from './fault.ts'
import { FaultGroup, type Finding, joinStrays, noteStray, type Stray, strayFinding } from './finding.ts'
import { guess, Guesses } from '../match/guess.ts'

/**
 * What an audit has found: with `each` a finding for every key as it is found, but for those that concern an entry as a whole;
 * else one for all that are alike, in the end. Memory is bounded by the entries and the patterns, not by the keys.
 */
export class Notes {
  readonly #prefix: string
  readonly #each: boolean
  readonly #groups = new Map<string, FaultGroup>()
  readonly #strays = new Guesses<Stray>(() => ({ count: 0, samples: [] }), joinStrays)

  constructor(prefix: string, each: boolean) {
    this.#prefix = prefix
    this.#each = each
  }

  /** Notes a fault of a key, and returns what is to be told of it now. */
  fault(fault: Fault, key: Buffer): Finding[] {
    const isOfEntry = fault.code === 'evictable'
    const tellsNow = this.#each && !isOfEntry
    const group = tellsNow ? new FaultGroup(fault) : this.#groupOf(fault, isOfEntry)
    group.add(key, fault.amount)
    return tellsNow ? [group.finding()] : []
  }

  /** Notes a key of no entry, of which `rest` stands behind the prefix, and returns what is to be told of it now. */
  stray(key: Buffer, rest: Buffer): Finding[] {
    if (!this.#each) {
      noteStray(this.#strays.at(rest), key)
      return []
    }
    const stray: Stray = { count: 0, samples: [] }
    noteStray(stray, key)
    return [strayFinding(this.#prefix, guess(rest), stray)]
  }

  /** Returns what was not told yet, worst first. */
  rest(): Finding[] {
    const found = Array.from(this.#groups.values(), (group) => group.finding())
    for (const [pattern, stray] of this.#strays) found.push(strayFinding(this.#prefix, pattern, stray))
    return found.sort(worstFirst)
  }

  #groupOf(fault: Fault, isOfEntry: boolean): FaultGroup {
    const { entry, pattern } = fault.owned
    const id = `${fault.code}\0${entry}\0${isOfEntry ? '' : pattern.text}\0${fault.detail ?? ''}`
    let group = this.#groups.get(id)
    if (group === undefined) this.#groups.set(id, (group = new FaultGroup(fault)))
    return group
  }
}

function worstFirst(a: Finding, b: Finding): number {
  if (a.severity !== b.severity) return a.severity === 'error' ? -1 : 1
  return b.count - a.count || (a.pattern ?? '').localeCompare(b.pattern ?? '')
}
