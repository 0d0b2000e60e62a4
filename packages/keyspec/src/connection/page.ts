import { UnsupportedClientError } from '../errors.ts'
import type { Reply } from './connection.ts'
import { decodeReply, isArray, type ReplyDecoder } from './reply.ts'

/**
 * Reads one reply of SCAN, HSCAN, SSCAN or ZSCAN, and what it found by a decoder. A cursor of another form would have the
 * scan ask for ever.
 * @throws UnsupportedClientError if the reply is no cursor with what the decoder reads
 */
export function pageOf<T>(
  found: ReplyDecoder<T>,
  reply: Reply,
  scan: string,
  key?: string,
): readonly [next: string, found: T] {
  const [cursor = null, page = null, ...more] = isArray(reply) ? reply : []
  const next = String(cursor)
  if (more.length === 0 && /^\d+$/.test(next) && isArray(page)) return [next, decodeReply(found, page, key)]
  throw new UnsupportedClientError(
    `${key === undefined ? '' : `${key}: `}${scan} was answered with something else than a cursor and an array, so the scan ended`,
    key,
  )
}

/**
 * Yields what each reply of a whole scan found, in batches as the server gives them.
 * @param ask Sends the command with this cursor.
 */
export async function* pagesOf<T>(
  found: ReplyDecoder<T>,
  ask: (cursor: string) => Promise<Reply>,
  scan: string,
  key?: string,
): AsyncGenerator<T> {
  let cursor = '0'
  do {
    const [next, page] = pageOf(found, await ask(cursor), scan, key)
    cursor = next
    yield page
  } while (cursor !== '0')
}
