import type { Command, Connection, Reply, Shape } from './connection.ts'
import type { Merge } from './merge.ts'

interface Call {
  readonly command: Command
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
}

/**
 * A connection whose calls of one tick go out together, in the order they were asked.
 *
 * A call that cannot be merged is passed on at once: the clients write what they are given in one tick together anyway.
 * Calls that can be merged wait, until the microtasks of this tick are done or a call of another kind comes, and go out
 * as one. So at most one run is open, and no order is ever changed but among calls that commute.
 */
export function tick(connection: Connection): Connection {
  let open: { merge: Merge; calls: Call[] } | undefined

  const close = () => {
    if (open === undefined) return
    const { merge, calls } = open
    open = undefined
    if (calls.length === 1) sendOne(connection, merge, calls[0]!)
    else sendRun(connection, merge, calls)
  }
  // A nextTick asked from a microtask runs when the microtasks are done, so every continuation of this tick has its say.
  const schedule = () => process.nextTick(close)

  return {
    client: connection.client,
    cluster: connection.cluster,
    masters: () => connection.masters(),
    send(command: Command, shape: Shape) {
      const { merge } = shape
      if (merge === undefined) {
        close()
        return connection.send(command, shape)
      }
      if (open !== undefined && open.merge !== merge) close()
      return new Promise((resolve, reject) => {
        const call = { command, resolve, reject }
        if (open === undefined) {
          open = { merge, calls: [call] }
          queueMicrotask(schedule)
        } else {
          open.calls.push(call)
        }
      })
    },
  }
}

function sendRun(connection: Connection, merge: Merge, calls: readonly Call[]): void {
  const groups = new Map<string | number, Call[]>()
  let last: string | number | undefined
  for (const call of calls) {
    const group = merge.group(call.command, connection.cluster)
    if (merge.neighbours === true && last !== undefined && group !== last)
      sendGroups(connection, merge, groups)
    last = group
    const members = groups.get(group)
    if (members === undefined) groups.set(group, [call])
    else members.push(call)
  }
  sendGroups(connection, merge, groups)
}

function sendGroups(connection: Connection, merge: Merge, groups: Map<string | number, Call[]>): void {
  for (const members of groups.values()) {
    for (let at = 0; at < members.length; at += merge.most) {
      const chunk = members.slice(at, at + merge.most)
      if (chunk.length === 1) sendOne(connection, merge, chunk[0]!)
      else void sendChunk(connection, merge, chunk)
    }
  }
  groups.clear()
}

function sendOne(connection: Connection, merge: Merge, { command, resolve, reject }: Call): void {
  try {
    merge.sendOne(connection, command).then(resolve, reject)
  } catch (error) {
    reject(error)
  }
}

async function sendChunk(connection: Connection, merge: Merge, calls: readonly Call[]): Promise<void> {
  try {
    const commands = calls.map(({ command }) => command)
    const outcomes = await merge.send(connection, commands)
    for (const [index, { resolve, reject }] of calls.entries()) {
      const outcome = outcomes[index]!
      if ('error' in outcome) reject(outcome.error)
      else resolve(outcome.reply)
    }
  } catch (error) {
    for (const { reject } of calls) reject(error)
  }
}
