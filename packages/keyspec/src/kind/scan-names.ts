import { type Connection, NO_KEY, ONE_KEY } from '../connection/connection.ts'
import { pagesOf } from '../connection/page.ts'
import { listReply, textReply } from '../connection/reply.ts'
import type { Pattern } from '../pattern.ts'

/** A SCAN pattern that finds every key of a pattern, and perhaps others: what it finds must still be parsed. */
export function globOf(pattern: Pattern): string {
  return pattern.parts
    .map((part) => ('literal' in part ? part.literal.replace(/[\\*?[\]]/g, '\\$&') : '*'))
    .join('')
}

const TEXTS = listReply(textReply)

/** Yields the names of the keys of a pattern that exist now, and perhaps of others; one may come twice. */
export async function* scanNames(
  connection: Connection,
  pattern: Pattern,
  count: number,
): AsyncGenerator<string> {
  if (pattern.params.length === 0) {
    if ((await connection.send(['EXISTS', pattern.text], ONE_KEY)) === 1) yield pattern.text
    return
  }
  const glob = globOf(pattern)
  for (const master of await connection.masters()) {
    const ask = (cursor: string) =>
      master.send(['SCAN', cursor, 'MATCH', glob, 'COUNT', String(count)], NO_KEY)
    for await (const names of pagesOf(TEXTS, ask, 'SCAN')) yield* new Set(names)
  }
}
