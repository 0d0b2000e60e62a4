import type { Argument, Command, Connection, Reply, Merge, Outcome } from '../connection/connection.ts'
import { ServerError } from '../connection/server-error.ts'

/** From the answer for so many equal calls, the answer of each, in the order they were asked. */
export type Split = (reply: Reply, count: number) => readonly Reply[]

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
  // A server behind a proxy may keep its keys in slots though its client knows nothing of them.
  const apart = new WeakSet<Connection>()

  async function settle(connection: Connection, { call, byKey }: Batch, outcomes: Outcome[]): Promise<void> {
    const keys = [...byKey.keys()]
    const counts = Array.from(byKey.values(), (places) => places.length)
    try {
      if (keys.length === 1) note(byKey, keys[0]!, await sendCounted(connection, call, counts[0]!), outcomes)
      else {
        const replies = await sendSeveral(connection, call, keys, counts)
        for (const [index, reply] of replies.entries()) note(byKey, keys[index]!, reply, outcomes)
      }
    } catch (error) {
      if (keys.length > 1 && refusesSeveral(error)) {
        if (error.code === 'E_CROSS_SLOT') apart.add(connection)
        await Promise.all(
          Array.from(byKey, ([key, places]) => settle(connection, alone(call, key, places), outcomes)),
        )
        return
      }
      for (const places of byKey.values()) for (const place of places) outcomes[place] = { error }
    }
  }

  /** Gives the calls on one key their parts of its answer. */
  function note(byKey: Batch['byKey'], key: string, reply: Reply, outcomes: Outcome[]): void {
    const places = byKey.get(key)!
    if (typeof reply === 'string' || reply instanceof Buffer) {
      const error = new ServerError(String(reply), 'EVALSHA', key)
      for (const place of places) outcomes[place] = { error }
    } else if (places.length === 1) outcomes[places[0]!] = { reply }
    else
      for (const [index, part] of split(reply, places.length).entries())
        outcomes[places[index]!] = { reply: part }
  }

  return {
    // What many on one key cost the server does not grow with them, only with what they are admitted.
    most: 1_000,
    // On a cluster hardly two keys stand in one slot.
    group: (call, cluster) => (cluster ? (call[KEY] as string) : ''),
    sendOne,
    async send(connection, calls) {
      const outcomes: Outcome[] = []
      const most = apart.has(connection) ? 1 : MOST_KEYS
      await Promise.all(batchesOf(calls, most).map((batch) => settle(connection, batch, outcomes)))
      return outcomes
    },
  }
}

// EVALSHA, the script, how many keys, the key, its arguments.
const KEY = 3
// Enough that what one script costs by itself weighs little, and few enough that it holds the server for less than a ms.
const MOST_KEYS = 32

/** In the order in which they are to be sent: what is asked of a key later is in no earlier batch. */
function batchesOf(calls: readonly Command[], most: number): readonly Batch[] {
  const batches: Batch[] = []
  const latest = new Map<string, number>()
  for (const [place, call] of calls.entries()) {
    const key = call[KEY] as string
    let at = latest.get(key) ?? 0
    while (at < batches.length && !mayJoin(batches[at]!, call, key, most)) at += 1
    const batch = (batches[at] ??= { call, byKey: new Map() })
    latest.set(key, at)
    const places = batch.byKey.get(key)
    if (places === undefined) batch.byKey.set(key, [place])
    else places.push(place)
  }
  return batches
}

function mayJoin({ call, byKey }: Batch, other: Command, key: string, most: number): boolean {
  return (byKey.size < most || byKey.has(key)) && isEqual(call, other)
}

/** What is asked of one key of a batch. */
function alone(call: Command, key: string, places: number[]): Batch {
  return { call: [...call.slice(0, KEY), key, ...call.slice(KEY + 1)], byKey: new Map([[key, places]]) }
}

/** Whether several keys were refused before anything ran, where one alone need not be: other slots, an ACL. */
function refusesSeveral(error: unknown): error is ServerError {
  return error instanceof ServerError && (error.code === 'E_CROSS_SLOT' || error.code === 'E_DENIED')
}

function isEqual(one: Command, other: Command): boolean {
  if (one.length !== other.length) return false
  for (let at = KEY + 1; at < one.length; at += 1) if (one[at] !== other[at]) return false
  return true
}
