import type { Argument, Command, Connection, Reply } from '../connection/connection.ts'
import type { Merge, Outcome } from '../connection/merge.ts'
import { ServerError, unwrapped } from '../connection/server-error.ts'
import type { Split } from './script.ts'

interface Sending {
  /** One call as it stands; who asked sees to it that a script which the server has lost is sent again. */
  readonly sendOne: (connection: Connection, call: Command) => Promise<Reply>
  /** Several equal calls on the key of this one, whose askers know nothing of it. */
  readonly sendCounted: (connection: Connection, call: Command, count: number) => Promise<Reply>
  /**
   * Equal calls on several keys, so many on each: answers in their order what `sendCounted` would, or `sendOne` for a
   * single one, or the text of an error.
   */
  readonly sendSeveral: (
    connection: Connection,
    call: Command,
    keys: readonly Argument[],
    counts: readonly number[],
  ) => Promise<readonly Reply[]>
}

/** Calls that are equal but for their keys. */
interface Batch {
  readonly call: Command
  /** Which of all calls they are, by key. */
  readonly byKey: Map<string, number[]>
}

/**
 * Calls of one script, each on one key, as few as can be: those with equal arguments go out as one command that names their
 * keys, and says how many each is asked for. Those on one key keep the order they were asked in.
 */
export function mergeEqual(split: Split, { sendOne, sendCounted, sendSeveral }: Sending): Merge {
  async function settle(connection: Connection, { call, byKey }: Batch, outcomes: Outcome[]): Promise<void> {
    const [keys, places] = [[...byKey.keys()], [...byKey.values()]]
    const note = (at: readonly number[], key: string, reply: Reply) => {
      if (typeof reply === 'string' || reply instanceof Buffer) {
        const error = new ServerError(unwrapped(String(reply)), 'EVALSHA', key)
        for (const place of at) outcomes[place] = { error }
      } else if (at.length === 1) outcomes[at[0]!] = { reply }
      else
        for (const [index, part] of split(reply, at.length).entries()) outcomes[at[index]!] = { reply: part }
    }
    try {
      if (keys.length === 1)
        note(places[0]!, keys[0]!, await sendCounted(connection, call, places[0]!.length))
      else {
        const counts = places.map((at) => at.length)
        const replies = await sendSeveral(connection, call, keys, counts)
        for (const [index, reply] of replies.entries()) note(places[index]!, keys[index]!, reply)
      }
    } catch (error) {
      for (const at of places) for (const place of at) outcomes[place] = { error }
    }
  }

  return {
    // What many on one key cost the server does not grow with them, only with what they are admitted.
    most: 1_000,
    // On a cluster hardly two keys stand in one slot.
    group: (call, cluster) => (cluster ? (call[KEY] as string) : ''),
    sendOne,
    async send(connection, calls) {
      const outcomes: Outcome[] = []
      await Promise.all(batchesOf(calls).map((batch) => settle(connection, batch, outcomes)))
      return outcomes
    },
  }
}

// EVALSHA, the script, how many keys, the key, its arguments.
const KEY = 3
// Enough that what one script costs by itself weighs little, and few enough that it holds the server for less than a ms.
const MOST_KEYS = 32

/** In the order in which they are to be sent: what is asked of a key later is in no earlier batch. */
function batchesOf(calls: readonly Command[]): readonly Batch[] {
  const batches: Batch[] = []
  const latest = new Map<string, number>()
  for (const [place, call] of calls.entries()) {
    const key = call[KEY] as string
    let at = latest.get(key) ?? 0
    while (at < batches.length && !mayJoin(batches[at]!, call, key)) at += 1
    const batch = (batches[at] ??= { call, byKey: new Map() })
    latest.set(key, at)
    const places = batch.byKey.get(key)
    if (places === undefined) batch.byKey.set(key, [place])
    else places.push(place)
  }
  return batches
}

function mayJoin({ call, byKey }: Batch, other: Command, key: string): boolean {
  return (byKey.size < MOST_KEYS || byKey.has(key)) && isEqual(call, other)
}

function isEqual(one: Command, other: Command): boolean {
  if (one.length !== other.length) return false
  for (let at = KEY + 1; at < one.length; at += 1) if (one[at] !== other[at]) return false
  return true
}
