import { ONE_KEY } from 'keyspec/extend'
import type { Opened } from '../keyspace.ts'

/** Writes 0 where a counter was never written: programs of the originals read a counter that is missing as an error. */
export async function beginCounting({
  keys,
  connection,
}: Pick<Opened, 'keys' | 'connection'>): Promise<void> {
  await Promise.all([
    ...keys.jobs().names.counters.map((name) => connection.send(['SET', name, '0', 'NX'], ONE_KEY)),
    keys.docketsTotal().setIfAbsent(0),
    keys.documentsTotal().setIfAbsent(0),
    keys.commentsTotal().setIfAbsent(0),
  ])
}
