import { type Connection, NO_KEY, type Shape } from '../connection/connection.ts'
import { globOf } from '../kind/entry.ts'
import { owned, type Owned, type Schema } from '../schema.ts'
import { pattern } from '../pattern.ts'
import { matcher } from './matcher.ts'

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
  /** How many keys one SCAN is to look at, and so how many MEMORY USAGE go out together; 500 unless told. */
  readonly count?: number
}

/**
 * The keys and the memory of every pattern that a schema owns, in the order declared, and last of what no entry owns. It
 * walks the keys of each master once, with SCAN: a key that comes or goes meanwhile may be missed, and one may count
 * twice while the server rehashes.
 */
export async function* usage(
  schema: Schema,
  connection: Connection,
  { prefix = '', count = 500 }: UsageOptions = {},
): AsyncGenerator<Usage> {
  const { match } = matcher(schema, prefix)
  const sums = new Map<string | undefined, { keys: number; bytes: number }>()
  for (const master of await connection.masters()) {
    for await (const names of scan(master, prefix, count)) {
      const sizes = await Promise.all(names.map((name) => master.send(['MEMORY', 'USAGE', name], SECOND)))
      for (const [index, name] of names.entries()) {
        const bytes = sizes[index] as number | null
        if (bytes === null) continue
        const key = match(name)?.pattern.text
        const sum = sums.get(key) ?? { keys: 0, bytes: 0 }
        sums.set(key, { keys: sum.keys + 1, bytes: sum.bytes + bytes })
      }
    }
  }
  for (const each of owned(schema, prefix)) {
    yield { owned: each, ...(sums.get(each.pattern.text) ?? { keys: 0, bytes: 0 }) }
  }
  yield { owned: undefined, ...(sums.get(undefined) ?? { keys: 0, bytes: 0 }) }
}

const SECOND: Shape = { firstKey: 2, keyCount: 1 }

async function* scan(master: Connection, prefix: string, count: number): AsyncGenerator<string[]> {
  const match = prefix === '' ? [] : ['MATCH', `${globOf(pattern(prefix))}*`]
  let cursor = '0'
  do {
    const [next, names] = (await master.send(['SCAN', cursor, ...match, 'COUNT', String(count)], NO_KEY)) as [
      string,
      string[],
    ]
    cursor = next
    if (names.length > 0) yield [...new Set(names)]
  } while (cursor !== '0')
}
