import type { Argument, Connection, Reply } from '../connection/connection.ts'
import { bytesReply, decodeReply, integerReply, listReply, tupleReply } from '../connection/reply.ts'
import { ArgumentRangeError, ConflictError } from '../errors.ts'
import { digits, int, rest, text } from '../script/argument.ts'
import { script } from '../script/script.ts'
import { sleep } from '../timer.ts'
import * as lua from './lua.gen.ts'

const ELEMENTS = listReply(bytesReply)
// LPOP answers nil where there is no list.
const OUTCOME = tupleReply(integerReply, (reply) => (reply === null ? [] : ELEMENTS(reply)))

const takeEnds = script('kind/take-ends', {
  keys: ['key'],
  args: { peek: text, first: text, last: text, from: text, to: text, pop: text, count: digits, read: rest },
  lua: lua.takeEnds,
  commands: [],
  given: { peek: ['LRANGE', 'ZRANGE', 'ZREVRANGE'], pop: ['LPOP', 'RPOP', 'ZPOPMAX', 'ZPOPMIN'] },
  bytes: true,
  reply: OUTCOME,
})

const takeMembers = script('kind/take-members', {
  keys: ['key'],
  args: { count: int, most: digits, read: rest },
  lua: lua.takeMembers,
  commands: ['SCARD', 'SISMEMBER', 'SRANDMEMBER', 'SREM'],
  bytes: true,
  reply: OUTCOME,
})

/** What a script that takes answers: that it took, or what is there now. */
type Outcome = readonly [taken: number, elements: readonly Buffer[]]

/** How some elements are looked at and taken: the elements of one end, or members at random. */
export interface Taking {
  /** Answers up to so many elements, the next to be taken first. */
  peek(most: number): Promise<readonly Buffer[]>
  /** Takes elements if they are among those that were `read`; else answers `most` of those that are there now. */
  take(read: readonly Argument[], most: number): Promise<Outcome>
}

const ATTEMPTS = 100
const MOST_SEEN = 1000

/**
 * Takes up to `count` elements, each of which was read before the server removed it: an element that the codec cannot read
 * stays where it is, even if this process ends at any moment. Where others take too, more elements are read ahead with
 * each attempt, so that all of them come to an end.
 *
 * @param read - Reads an element; throws if the codec cannot.
 * @returns What the command that takes answered.
 * @throws A `ConflictError` if others changed these elements between reading and taking, a hundred times.
 */
export async function takeReadable(
  key: string,
  count: number,
  { peek, take }: Taking,
  read: (stored: Buffer) => unknown,
): Promise<readonly Buffer[]> {
  let seen = await peek(count)
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    if (seen.length === 0) return []
    const [taken, elements] = await take(readable(seen, count, read), most(count, attempt))
    if (taken === 1) return elements
    seen = elements
    if (attempt > 8) await sleep(Math.random() * 10)
  }
  throw changing(key)
}

/** The error for a key that others kept changing. */
export function changing(key: string): ConflictError {
  return new ConflictError(
    `${key}: nothing was taken: others changed it ${ATTEMPTS} times between reading and taking; ` +
      'try again when fewer change it',
    key,
  )
}

// Of those beyond the first `count`, one that cannot be read is not yet this caller's concern.
function readable(seen: readonly Buffer[], count: number, read: (stored: Buffer) => unknown): Buffer[] {
  return seen.filter((stored, at) => {
    try {
      read(stored)
      return true
    } catch (error) {
      if (at < count) throw error
      return false
    }
  })
}

function most(count: number, attempt: number): number {
  return Math.max(count, Math.min(MOST_SEEN, count + 2 ** (attempt + 2)))
}

/** Takes from the front or the back of a list, or the lowest or highest of a sorted set. */
export function takingEnds(
  connection: Connection,
  key: string,
  count: number,
  how: { readonly peek: string; readonly pop: string; readonly back?: boolean },
  peekNow: (from: string, to: string) => Promise<Reply>,
): Taking {
  const { peek, pop, back = false } = how
  const range = (length: number): [string, string] =>
    back ? [String(-length), '-1'] : ['0', String(length - 1)]
  const [first, last] = range(count)
  return {
    async peek(length) {
      return nextFirst(decodeReply(ELEMENTS, await peekNow(...range(length)), key))
    },
    async take(read, length) {
      const [from, to] = range(length)
      const [taken, elements] = await takeEnds.run(
        connection,
        { key },
        { peek, first, last, from, to, pop, count, read },
      )
      return [taken, taken === 1 ? elements : nextFirst(elements)]
    },
  }

  function nextFirst(elements: readonly Buffer[]): readonly Buffer[] {
    return back ? elements.toReversed() : elements
  }
}

/** Takes members of a set at random. */
export function takingMembers(
  connection: Connection,
  key: string,
  count: number,
  peekNow: (most: number) => Promise<Reply>,
): Taking {
  return {
    async peek(length) {
      return decodeReply(ELEMENTS, await peekNow(length), key)
    },
    take: (read, length) => takeMembers.run(connection, { key }, { count, most: length, read }),
  }
}

/** A number of elements to take. */
export function amount(count: number): string {
  if (!Number.isSafeInteger(count) || count < 0)
    throw new ArgumentRangeError(`${String(count)} is not a number of elements`)
  return String(count)
}
