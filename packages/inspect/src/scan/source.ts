import type { Connection } from 'keyspec'
import { type Eviction, evictionOf } from './eviction.ts'
import type { StoredValue } from './peek.ts'
import { type ValueOptions, valuesOf } from './values.ts'
import { sizesOf } from './sample.ts'
import { type KeyFacts, type ScanOptions, type ScanStep, steps } from './scan.ts'

/**
 * Where `audit` and `stats` have their keys from. A connection stands for a walk over its masters; any other source, such
 * as a snapshot that was received, is an object of this form and is given in the connection's place. It decides itself how
 * large a step is, and shows in one no more than it can hold in memory.
 */
export interface KeySource {
  /**
   * Returns how many keys each master has, `undefined` where that is unknown or not read yet. A source that is not a connection
   * is asked again at each step, for the `total` of that step.
   */
  sizes(): Promise<readonly (number | undefined)[]>
  /**
   * The keys whose bytes begin with `prefix`, step by step, with the `facts` that are asked for. How to be kind to a server
   * (`count`, `maxLoad`) is of no concern to a source that asks none. It is asked for a `sample` only if it is a connection.
   */
  steps(options: ScanOptions): AsyncIterable<ScanStep>
  /**
   * The beginnings of the values of some keys of the step that was shown last, in their order, in batches that fit in
   * memory; of a key that is no longer of the type that was shown, whatever it is now, and nothing is decoded then. It is
   * asked at the most once a step, before the next; the answers may be taken while the next step is looked at.
   */
  values(keys: readonly KeyFacts[], options: ValueOptions): AsyncIterable<readonly StoredValue[]>
  /** Which keys the server evicts; `undefined` where it would not say. */
  eviction(): Promise<Eviction | undefined>
}

/** What to have keys from: a connection is walked. */
export function sourceOf(from: Connection | KeySource): KeySource {
  if (!isConnection(from)) return from
  return {
    sizes: async () => sizesOf(await from.masters()),
    steps: (options) => steps(from, options),
    values: valuesOf(from),
    eviction: () => evictionOf(from),
  }
}

/** Returns how many keys a source holds; `undefined` where it does not say, or not yet. */
export async function countOf(source: KeySource): Promise<number | undefined> {
  let count = 0
  for (const size of await source.sizes()) {
    if (size === undefined) return undefined
    count += size
  }
  return count
}

/** Whether it is a server that is asked, rather than another source. */
export function isConnection(from: Connection | KeySource): from is Connection {
  return 'masters' in from
}
