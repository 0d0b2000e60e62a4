import type { Argument, Command, Connection, Reply, Shape } from './connection.ts'
import type { Merge } from './merge.ts'

interface Call {
  readonly command: Command
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
}

/** Calls that wait to go out as one, and the keys that they touch. */
interface Run {
  readonly merge: Merge
  readonly keys: Set<string>
  calls: Call[]
}

/**
 * A connection whose calls of one tick go out together, each key's in the order they were asked.
 *
 * A call that cannot be merged is passed on at once: the clients write what they are given in one tick together anyway.
 * Calls that can be merged wait until the microtasks of this tick are done, and go out as one. What touches a key that a
 * waiting call touches sends that call on its way first; what touches no key sends all. So no order is ever changed but
 * among calls that commute.
 */
export function tick(connection: Connection): Connection {
  const runs: Run[] = []

  const close = () => {
    for (const { merge, calls } of runs.splice(0)) sendRun(connection, merge, calls)
  }
  // A nextTick asked from a microtask runs when the microtasks are done, so every continuation of this tick has its say.
  const schedule = () => process.nextTick(close)

  /** Sends what must not be overtaken by this call, which itself may join the run of its own merge. */
  const giveWay = (command: Command, shape: Shape) => {
    const [from, to] = keysAt(command, shape)
    if (from === to) return close()
    for (let at = 0; at < runs.length; at++) {
      const run = runs[at]!
      if (run.merge === shape.merge || (run.merge.reads === true && shape.merge?.reads === true)) continue
      const { keys, merge } = run
      let touched = false
      for (let key = from; key < to; key++) {
        const name = nameOf(command[key]!)
        // A read's run goes on without the key.
        touched = (merge.reads === true ? keys.delete(name) : keys.has(name)) || touched
      }
      if (!touched) continue
      if (merge.reads === true) {
        // Alone, so that their answers need no second look at the key, which would come too late.
        for (const call of run.calls) {
          if (!keys.has(nameOf(call.command[1]!))) sendOne(connection, merge, call)
        }
        run.calls = run.calls.filter((call) => keys.has(nameOf(call.command[1]!)))
      } else {
        runs.splice(at--, 1)
        sendRun(connection, merge, run.calls)
      }
    }
  }

  const join = (merge: Merge): Run => {
    const open = runs.find((run) => run.merge === merge)
    if (open !== undefined) return open
    const run: Run = { merge, keys: new Set(), calls: [] }
    if (runs.push(run) === 1) queueMicrotask(schedule)
    return run
  }

  return {
    client: connection.client,
    cluster: connection.cluster,
    masters: () => connection.masters(),
    send(command: Command, shape: Shape) {
      const { merge } = shape
      if (runs.length > 0) giveWay(command, shape)
      if (merge === undefined) return connection.send(command, shape)
      const run = join(merge)
      const [from, to] = keysAt(command, shape)
      for (let at = from; at < to; at++) run.keys.add(nameOf(command[at]!))
      return new Promise((resolve, reject) => {
        run.calls.push({ command, resolve, reject })
      })
    },
  }
}

function keysAt(command: Command, { firstKey, keyCount }: Shape): readonly [from: number, to: number] {
  if (firstKey === 0) return NOWHERE
  return [firstKey, keyCount === 'rest' ? command.length : Math.min(command.length, firstKey + keyCount)]
}

const NOWHERE = [0, 0] as const

function nameOf(key: Argument): string {
  return typeof key === 'string' ? key : Buffer.from(key).toString()
}

function sendRun(connection: Connection, merge: Merge, calls: readonly Call[]): void {
  // All of a run may have given way.
  if (calls.length === 0) return
  if (calls.length === 1) return sendOne(connection, merge, calls[0]!)
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
