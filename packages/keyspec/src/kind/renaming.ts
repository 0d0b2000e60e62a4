import {
  type Argument,
  type Command,
  type Connection,
  keysOf,
  ONE_KEY,
  type Reply,
  type Shape,
  type Subscriber,
} from '../connection/connection.ts'
import { decodeReply, listReply, textReply, tupleReply } from '../connection/reply.ts'
import { ServerError } from '../connection/server-error.ts'
import { slotOf } from '../connection/slot.ts'
import { wrapConnection } from '../connection/wrap.ts'
import type { Pattern } from '../pattern.ts'
import { evaluate } from '../script/source.ts'
import { sleep } from '../timer.ts'
import { nameOrNone, prefixed } from './key-name.ts'
import type { KeySpec, Phase } from './kind.ts'
import { type Announcement, announcement } from './phase.ts'
import { acrossSlots, READS, type Routed } from './renaming-across.ts'
import { type Body, bodyOf, proveAgain } from './renaming-body.ts'
import { apart, twoNames } from './renaming-error.ts'

/** One pattern that is being renamed, prefixes included. */
interface Renamed {
  readonly pattern: Pattern
  readonly renamedFrom: readonly Pattern[]
  readonly phase: Phase
  readonly inUse: Announcement
}

/**
 * A connection that finds each key of a command under the name that the phase of its rename asks for. In phases 1 and 2 a
 * command and the search for its keys are one script, so no other program comes between; whole scripts run so as well. On a
 * cluster that keeps the two names in different slots, see `acrossSlots`. In phase 3 a command goes out as it is.
 */
export function renaming(connection: Connection, specs: readonly KeySpec[], prefix: string): Connection {
  const renamed = specs.flatMap((spec): Renamed[] => {
    if (spec.phase === undefined || spec.external !== undefined) return []
    const pattern = prefixed(spec.pattern, prefix)
    const renamedFrom = spec.renamedFrom.map((before) => prefixed(before, prefix))
    return [
      {
        pattern,
        renamedFrom,
        phase: spec.phase,
        inUse: announcement(connection, prefix, pattern.text, spec.phase),
      },
    ]
  })
  if (renamed.length === 0) return connection
  // The keys of one entry are renamed by one declaration.
  const [{ phase }] = renamed as [Renamed]
  const across = acrossSlots(connection, prefix, phase)

  /** The names of a key, the new one first; on its own if it is not being renamed. */
  const namesOf = (key: string): readonly string[] => {
    for (const { pattern, renamedFrom } of renamed) {
      const texts = pattern.parse(key)
      if (texts === undefined) continue
      const byName = new Map(pattern.params.map((name, index) => [name, texts[index]!]))
      return [key, ...renamedFrom.flatMap((before) => nameIn(before, byName) ?? [])]
    }
    return [key]
  }

  const sendRenamed = async (command: Command, shape: Shape): Promise<Reply> => {
    const keys = keysOf(command, shape)
    const names = keys.map(namesOf)
    if (names.every((each) => each.length === 1)) return connection.send(command, shape)
    if (shape.blocks === true) return polled(command, shape, sendRenamed)
    const slots = connection.cluster ? new Set(names.flat().map(slotOf)) : undefined
    const removes = command[0] === 'UNLINK'
    const body = bodyOf(command, shape)
    const how: Shape = { firstKey: 3, keyCount: names.flat().length, ...(shape.bytes ? { bytes: true } : {}) }
    try {
      if (slots !== undefined && slots.size > 1) {
        if (keys.length > 1 || names[0]!.length > 2) throw apart(keys[0]!, String(command[0]))
        const [[key, old]] = names as [[string, string]]
        const routed: Routed = {
          command,
          shape,
          body,
          key,
          old,
          writes: !READS.has(String(command[0])),
          removes,
        }
        return await across(routed)
      }
      const words = [String(phase), removes ? '1' : '0', names.map((each) => each.length).join()]
      return await runResolved(connection, body, names.flat(), [...words, ...body.given], how)
    } catch (error) {
      throw told(error, command, keys)
    }
  }

  let announcing: Promise<unknown> | undefined
  const renewal = (): Promise<unknown> | undefined => {
    const renewals = renamed.flatMap(({ inUse }) => inUse.renewal() ?? [])
    if (renewals.length === 0) return undefined
    const all = Promise.all(renewals)
    const end = () => {
      announcing = undefined
    }
    all.then(end, end)
    return all
  }

  const wrapped: Connection = wrapConnection(connection, {
    send(command, shape) {
      if (phase !== 3 && shape.merge !== undefined) return shape.merge.sendOne(wrapped, command)
      const send = phase === 3 ? connection.send.bind(connection) : sendRenamed
      // Calls that come while the phases are announced wait their turn, so that none overtakes another.
      const waiting = (announcing ??= renewal())
      if (waiting !== undefined) return waiting.then(() => send(command, shape))
      return send(command, shape)
    },
  })
  return wrapped
}

/** A subscriber that hears of a key under all its names: a program of an earlier phase announces the old one. */
export function listeningToAll(
  subscriber: Subscriber | undefined,
  specs: readonly KeySpec[],
  prefix: string,
): Subscriber | undefined {
  const renamed = specs.filter(({ phase }) => phase === 1 || phase === 2)
  if (subscriber === undefined || renamed.length === 0) return subscriber
  const patterns = renamed.map(({ pattern, renamedFrom }) => ({
    pattern: prefixed(pattern, prefix),
    renamedFrom: renamedFrom.map((before) => prefixed(before, prefix)),
  }))
  return {
    async subscribe(channel, heard) {
      const channels = [channel]
      for (const { pattern, renamedFrom } of patterns) {
        const texts = pattern.parse(channel)
        if (texts === undefined) continue
        const byName = new Map(pattern.params.map((name, index) => [name, texts[index]!]))
        channels.push(...renamedFrom.flatMap((before) => nameIn(before, byName) ?? []))
      }
      const ends = await Promise.all(channels.map((each) => subscriber.subscribe(each, heard)))
      return async () => {
        await Promise.all(ends.map((end) => end()))
      }
    },
  }
}

/** The name of a key in another pattern of its entry; `undefined` if it can have none there, as with a `:` in a `<name>`. */
export function nameIn(pattern: Pattern, texts: ReadonlyMap<string, string>): string | undefined {
  return nameOrNone(() => pattern.format(pattern.params.map((name) => texts.get(name)!)))
}

function runResolved(
  connection: Connection,
  { resolved }: Body,
  keys: readonly string[],
  words: readonly Argument[],
  shape: Shape,
): Promise<Reply> {
  const command = ['EVALSHA', resolved.sha, String(keys.length), ...keys, ...words]
  return evaluate(connection, resolved, command, shape)
}

async function lastId(
  key: string,
  send: (command: Command, shape: Shape) => Promise<Reply>,
): Promise<string> {
  const last = await send(['XREVRANGE', key, '+', '-', 'COUNT', '1'], ONE_KEY)
  const [entry] = decodeReply(listReply(tupleReply(textReply)), last, key)
  return entry?.[0] ?? '0-0'
}

const POLL_MS = 100

/** A command that waits on the server cannot do so in a script: it is asked again in short pauses instead. */
async function polled(
  command: Command,
  shape: Shape,
  send: (command: Command, shape: Shape) => Promise<Reply>,
): Promise<Reply> {
  const at = command.indexOf('BLOCK')
  const waitMs = Number(command[at + 1])
  const endsAt = waitMs === 0 ? Infinity : performance.now() + waitMs
  const now = [...command.slice(0, at), ...command.slice(at + 2)]
  const { blocks: _, ...rest } = shape
  // `$` is the last entry at the first look, not at each.
  if (now.at(-1) === '$') now[now.length - 1] = await lastId(String(now.at(-2)), send)
  for (;;) {
    const reply = await send(now, { ...rest, firstKey: shape.firstKey - 2 })
    const leftMs = endsAt - performance.now()
    if (reply !== null || leftMs <= 0) return reply
    await sleep(Math.min(POLL_MS, leftMs))
  }
}

function told(error: unknown, command: Command, keys: readonly string[]): unknown {
  if (!(error instanceof ServerError)) return error
  const place = /^TWONAMES (\d+)/.exec(error.reply)?.[1]
  if (place !== undefined) return twoNames(keys[Number(place) - 1])
  if (error.code === 'E_DENIED') proveAgain()
  return new ServerError(error.reply, String(command[0]), keys[0], error)
}
