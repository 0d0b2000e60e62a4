import type { Argument, Command, Connection, Reply, Shape, Merge } from '../connection.ts'
import { wrapConnection } from '../wrap.ts'

interface Call {
  readonly command: Command
  readonly shape: Shape
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
  readonly group: Group
  /** Sent ahead of its run. */
  isGone: boolean
}

type Group = string | number

/** Calls that wait to go out as one. */
interface Run {
  readonly merge: Merge
  readonly calls: Call[]
  readonly groups: Set<Group>
  /** Which of them touch each key: known from when somebody has to ask. */
  byKey: Map<string, Call[]> | undefined
}

/**
 * A connection whose calls of one tick go out together, each key's in the order they were asked.
 *
 * A call that cannot be merged is passed on at once: the clients write what they are given in one tick together anyway.
 * So is one that could be while no other that it could go with is under way: who asks one thing at a time waits for nothing.
 * Those that come meanwhile wait until the microtasks of their tick are done, and go out as one. What touches a key that a waiting
 * call touches sends that call on its way first; what touches no key (PING, PUBLISH, SCAN) sends all but reads. So no order
 * is ever changed but among calls that commute.
 */
export function tick(connection: Connection): Connection {
  const runs: Run[] = []
  const underWay = new Map<Merge, Set<Group>>()

  const close = () => {
    for (const run of runs.splice(0)) sendRun(connection, run)
  }
  // A nextTick asked from a microtask runs when the microtasks are done, so every continuation of this tick has its say.
  const schedule = () => process.nextTick(close)

  /** Sends what must not be overtaken by this call, which itself may join the run of its own merge. */
  const giveWay = (command: Command, shape: Shape) => {
    const [from, to] = keysAt(command, shape)
    for (let at = 0; at < runs.length; at++) {
      const run = runs[at]!
      if (run.merge === shape.merge || (run.merge.reads === true && shape.merge?.reads === true)) continue
      if (from === to && run.merge.reads !== true) {
        runs.splice(at--, 1)
        sendRun(connection, run)
        continue
      }
      for (let key = from; key < to; key++) {
        const byKey = (run.byKey ??= byKeyOf(run))
        const name = nameOf(command[key]!)
        const touching = byKey.get(name)
        if (touching === undefined) continue
        if (run.merge.reads !== true) {
          runs.splice(at--, 1)
          sendRun(connection, run)
          break
        }
        // A read's run goes on without the key. Alone, so that its answer needs no second look, which would come too late.
        byKey.delete(name)
        for (const call of touching) {
          call.isGone = true
          sendOne(connection, run.merge, call)
        }
      }
    }
  }

  const sendAlone = (merge: Merge, command: Command, group: Group, groups: Set<Group>): Promise<Reply> => {
    groups.add(group)
    let sent: Promise<Reply>
    try {
      sent = merge.sendOne(connection, command)
    } catch (error) {
      sent = Promise.reject(error)
    }
    return sent.then(
      (reply) => {
        groups.delete(group)
        return reply
      },
      (error: unknown) => {
        groups.delete(group)
        throw error
      },
    )
  }

  const begin = (merge: Merge): Run => {
    const run: Run = { merge, calls: [], groups: new Set(), byKey: undefined }
    if (runs.push(run) === 1) queueMicrotask(schedule)
    return run
  }

  return wrapConnection(connection, {
    send(command: Command, shape: Shape) {
      const { merge } = shape
      if (runs.length > 0) giveWay(command, shape)
      if (merge === undefined) return connection.send(command, shape)
      let groups = underWay.get(merge)
      if (groups === undefined) underWay.set(merge, (groups = new Set()))
      const group = merge.group(command, connection.cluster)
      const open = runs.length === 0 ? undefined : runs.find((run) => run.merge === merge)
      // A call can go at once if no call of its group is pending and no group shares a key with it.
      const isFree =
        merge.neighbours === true
          ? groups.size === 0 && open === undefined
          : !groups.has(group) && open?.groups.has(group) !== true
      if (isFree) return sendAlone(merge, command, group, groups)
      const run = open ?? begin(merge)
      run.groups.add(group)
      return new Promise((resolve, reject) => {
        const call = { command, shape, resolve, reject, group, isGone: false }
        run.calls.push(call)
        if (run.byKey !== undefined) note(run.byKey, call)
      })
    },
  })
}

function byKeyOf({ calls }: Run): Map<string, Call[]> {
  const byKey = new Map<string, Call[]>()
  for (const call of calls) note(byKey, call)
  return byKey
}

function note(byKey: Map<string, Call[]>, call: Call): void {
  const [from, to] = keysAt(call.command, call.shape)
  for (let at = from; at < to; at++) {
    const name = nameOf(call.command[at]!)
    const touching = byKey.get(name)
    if (touching === undefined) byKey.set(name, [call])
    else touching.push(call)
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

function sendRun(connection: Connection, { merge, calls: all }: Run): void {
  const calls = all.some((call) => call.isGone) ? all.filter((call) => !call.isGone) : all
  if (calls.length === 1) return sendOne(connection, merge, calls[0]!)
  const groups = new Map<Group, Call[]>()
  let last: Group | undefined
  let members: Call[] | undefined
  for (const call of calls) {
    const { group } = call
    if (group !== last) {
      if (merge.neighbours === true) sendGroups(connection, merge, groups)
      members = groups.get(group)
      if (members === undefined) groups.set(group, (members = []))
      last = group
    }
    members!.push(call)
  }
  sendGroups(connection, merge, groups)
}

function sendGroups(connection: Connection, merge: Merge, groups: Map<Group, Call[]>): void {
  for (const members of groups.values()) {
    // Mostly one: limiters of many keys are as many groups.
    if (members.length === 1) {
      sendOne(connection, merge, members[0]!)
      continue
    }
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
