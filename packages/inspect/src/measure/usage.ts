import { operation, type Operation, Progress, type Steps } from '../operation/operation.ts'
import type { Connection, Schema } from 'keyspec'
import { type OwnedPattern, patternsOf } from 'keyspec/extend'
import { keptForRename } from '../match/own-key.ts'
import { matcher } from '../match/matcher.ts'
import { scanKeys } from '../scan/scan.ts'

/** How much of the server one pattern of a schema takes. */
export interface Usage {
  /** The pattern and its entry; `undefined` for the keys that no entry owns. */
  readonly owned: OwnedPattern | undefined
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
  readonly signal?: AbortSignal | undefined
}

/**
 * The keys and the memory of every pattern that a schema owns, in the order declared, and last of what no entry owns. It
 * walks the keys of each master once, without rest: a key that comes or goes meanwhile may be missed, and one may count
 * twice while the server rehashes. What Keyspec itself keeps while an entry is renamed (`keyspec:phases` …) is left out.
 * It counts the keys that were looked at.
 */
export function usage(
  schema: Schema,
  connection: Connection,
  options: UsageOptions = {},
): Operation<readonly Usage[]> {
  return operation(() => counting(schema, connection, options))
}

async function* counting(
  schema: Schema,
  connection: Connection,
  { prefix = '', count = 500, signal }: UsageOptions,
): Steps<readonly Usage[]> {
  const { match } = matcher(schema, prefix)
  const sums = new Map<string | undefined, { keys: number; bytes: number }>()
  const result = (): Usage[] => [
    ...Array.from(patternsOf(schema, prefix, { cluster: connection.cluster }), (owned) => ({
      owned,
      ...(sums.get(declaredOf(owned)) ?? NOTHING),
    })),
    { owned: undefined, ...(sums.get(undefined) ?? NOTHING) },
  ]
  const progress = new Progress(result)
  let looked = 0
  for await (const batch of scanKeys(connection, { prefix, count, facts: ['memory'], maxLoad: 1, signal })) {
    for (const { key, name, bytes = 0 } of batch) {
      const found = name === undefined ? undefined : match(name)
      const owner = found && declaredOf(found)
      if (owner === undefined && keptForRename(key) !== undefined) continue
      const sum = sums.get(owner) ?? NOTHING
      sums.set(owner, { keys: sum.keys + 1, bytes: sum.bytes + bytes })
    }
    looked += batch.length
    yield progress.step(looked)
  }
  return result()
}

const NOTHING = { keys: 0, bytes: 0 }

/** The pattern as it was declared: the name that a key has on a cluster counts as the one that it has on a server. */
function declaredOf({ legacy, pattern, before, spec }: OwnedPattern): string {
  return legacy ? pattern.text : before + spec.pattern.text
}
