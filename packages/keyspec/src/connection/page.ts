import { UnsupportedClientError } from '../errors.ts'
import type { Reply } from './connection.ts'

/**
 * Reads one reply of SCAN, HSCAN, SSCAN or ZSCAN. A cursor of another form would have the scan ask for ever.
 * @throws UnsupportedClientError if the reply is no cursor with an array
 */
export function pageOf<T extends Reply = Reply>(
  reply: Reply,
  scan: string,
  key?: string,
): readonly [next: string, found: readonly T[]] {
  if (Array.isArray(reply) && reply.length === 2) {
    const [cursor, found] = reply as readonly Reply[]
    const next = String(cursor)
    if (/^\d+$/.test(next) && Array.isArray(found)) return [next, found as readonly T[]]
  }
  throw new UnsupportedClientError(
    `${key === undefined ? '' : `${key}: `}${scan} was answered with something else than a cursor and an array, so the scan ended`,
    key,
  )
}
