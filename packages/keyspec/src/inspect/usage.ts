import type { Connection } from '../connection/connection.ts'
import { owned, type Owned, type Schema } from '../schema.ts'
import { matcher } from './matcher.ts'
import { walk } from './walk.ts'

/** How much of the server one pattern of a schema takes. */
export interface Usage {
  /** The pattern and its entry; `undefined` for the keys that no entry owns. */
  readonly owned: Owned | undefined
  readonly keys: number
  /** What MEMORY USAGE says of them all: for large collections an estimate from some of their elements. */
  readonly bytes: number
}

/** What can be said of a count. */
export interface UsageOptions {
  /** The keyspace's prefix: keys outside it are not looked at. */
  readonly prefix?: string
  /** How many keys one step of the walk is to look at; 500 unless told. */
  readonly count?: number
}

/**
 * The keys and the memory of every pattern that a schema owns, in the order declared, and last of what no entry owns. It
 * walks the keys of each master once, without rest: a key that comes or goes meanwhile may be missed, and one may count
 * twice while the server rehashes.
 */
export async function* usage(
  schema: Schema,
  connection: Connection,
  { prefix = '', count = 500 }: UsageOptions = {},
): AsyncGenerator<Usage> {
  const { match } = matcher(schema, prefix)
  const sums = new Map<string | undefined, { keys: number; bytes: number }>()
  for await (const batch of walk(connection, { prefix, count, facts: ['memory'], maxLoad: 1 })) {
    for (const { name, bytes = 0 } of batch) {
      const owner = name === undefined ? undefined : match(name)?.pattern.text
      const sum = sums.get(owner) ?? { keys: 0, bytes: 0 }
      sums.set(owner, { keys: sum.keys + 1, bytes: sum.bytes + bytes })
    }
  }
  for (const each of owned(schema, prefix)) {
    yield { owned: each, ...(sums.get(each.pattern.text) ?? { keys: 0, bytes: 0 }) }
  }
  yield { owned: undefined, ...(sums.get(undefined) ?? { keys: 0, bytes: 0 }) }
}
