import type { Connection } from 'keyspec'
import { ALL_KEYS, ONE_KEY } from 'keyspec/extend'
import { asArguments } from './dump.ts'

/** Which of these keys exist. */
export async function existing(connection: Connection, keys: readonly Buffer[]): Promise<Buffer[]> {
  if (keys.length === 0) return []
  // Into an empty server, which is the common case, one command tells it of all.
  if (!connection.cluster) {
    const count = await connection.send(['EXISTS', ...asArguments(keys)], ALL_KEYS)
    if (count === 0) return []
  }
  const found = await Promise.all(keys.map((key) => connection.send(['EXISTS', key], ONE_KEY)))
  return keys.filter((_, index) => found[index] === 1)
}
