import type { Connection } from 'keyspec'
import { ONE_KEY, type OwnedPattern } from 'keyspec/extend'
import type { Names } from '../match/rename-rules.ts'
import type { KeyFacts } from '../scan/scan.ts'

/** A key that stands under an old name of its entry. */
export interface OldKey {
  readonly seen: KeyFacts
  readonly owned: OwnedPattern
}

/** Those of these keys that stand under a newer name too. Of a key under three names, the two older ones. */
export async function underTwoNames<K extends OldKey>(
  connection: Connection,
  keys: readonly K[],
  names: Names,
): Promise<K[]> {
  const found = await Promise.all(
    keys.map(({ seen, owned }) => {
      // The old names come newest first, and last the present one.
      const all = names.of(seen.name!, owned.pattern)
      return existsAny(
        connection,
        [...all.slice(0, all.indexOf(seen.name!)), all.at(-1)!].filter((name) => name !== seen.name),
      )
    }),
  )
  return keys.filter((_, index) => found[index])
}

/** Whether there is a key under any of these names, which a cluster may keep in different slots. */
export async function existsAny(connection: Connection, names: readonly string[]): Promise<boolean> {
  const counts = await Promise.all(names.map((name) => connection.send(['EXISTS', name], ONE_KEY)))
  return counts.includes(1)
}
