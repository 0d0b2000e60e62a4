import {
  type Command,
  type Connection,
  keysOf,
  ONE_KEY,
  ONE_KEY_BYTES,
  type Reply,
  type Shape,
} from '../connection/connection.ts'
import { ServerError } from '../connection/server-error.ts'
import { slotOf } from '../connection/slot.ts'
import { KeyError } from '../errors.ts'
import type { Pattern } from '../pattern.ts'
import { booleanReply } from '../script/reply.ts'
import { serverNow, text } from '../script/argument.ts'
import { script } from '../script/script.ts'
import { prefixed } from './entry.ts'
import type { KeySpec } from './kind.ts'
import * as lua from './lua.gen.ts'

const move = script('kind/move', { keys: ['key', 'old*'], args: {}, lua: lua.move, reply: booleanReply })
const forget = script('kind/forget', {
  keys: ['old'],
  args: { dump: text },
  lua: lua.forget,
  reply: booleanReply,
})
const read = script('kind/read-old', {
  keys: ['old'],
  args: { now: serverNow },
  lua: lua.readOld,
  bytes: true,
  reply: (reply) => reply as readonly [dump: Buffer, endsAtMs: number] | null,
})

/** What takes a key away whole: its old names must go with it, or the next read would bring the value back. */
const REMOVING: ReadonlySet<unknown> = new Set(['UNLINK', 'GETDEL'])

/**
 * The dual read of a migration: before a command touches a key, the key is moved there from the first of its old names
 * that exists, with its time to live. Move and command go out together, so it costs no round trip; across slots of a
 * cluster the value is copied (DUMP, RESTORE) first.
 */
export function movingFrom(connection: Connection, specs: readonly KeySpec[], prefix: string): Connection {
  const renamed = specs
    .filter((spec) => spec.was.length > 0)
    .map((spec) => ({
      pattern: prefixed(spec.pattern, prefix),
      was: spec.was.map((before) => prefixed(before, prefix)),
    }))
  if (renamed.length === 0) return connection

  const oldNames = (key: string): string[] => {
    for (const { pattern, was } of renamed) {
      const texts = pattern.parse(key)
      if (texts === undefined) continue
      const byName = new Map(pattern.params.map((name, index) => [name, texts[index]!]))
      return was.flatMap((before) => nameIn(before, byName) ?? [])
    }
    return []
  }

  return {
    client: connection.client,
    cluster: connection.cluster,
    dear: connection.dear === true,
    masters: () => connection.masters(),
    async send(command: Command, shape: Shape): Promise<Reply> {
      const moves: Promise<unknown>[] = []
      const gone: string[] = []
      for (const key of new Set(keysOf(command, shape))) {
        const old = oldNames(key)
        if (old.length === 0) continue
        const together = !connection.cluster || old.every((before) => slotOf(before) === slotOf(key))
        moves.push(together ? moveHere(connection, key, old) : copyAcross(connection, key, old))
        if (REMOVING.has(command[0])) gone.push(...old)
      }
      // On one server the order of sending is the order of doing: the command need not wait, only fail with its move.
      if (connection.cluster) await Promise.all(moves)
      const sent = connection.send(command, shape)
      const [reply] = await Promise.all([
        sent,
        ...moves,
        ...gone.map((before) => connection.send(['UNLINK', before], ONE_KEY)),
      ])
      return reply
    },
  }
}

/** A key's name in another pattern of its entry; `undefined` where it could have none there, as with a `:` in a `<name>`. */
export function nameIn(pattern: Pattern, texts: ReadonlyMap<string, string>): string | undefined {
  try {
    return pattern.format(pattern.params.map((name) => texts.get(name)!))
  } catch (error) {
    if (error instanceof KeyError) return undefined
    throw error
  }
}

/** With its whole text, always: were only its SHA-1 sent and not known, the command behind it would have come first. */
function moveHere(connection: Connection, key: string, old: readonly string[]): Promise<Reply> {
  const keys = [key, ...old]
  return connection.send(['EVAL', move.source, String(keys.length), ...keys], {
    firstKey: 3,
    keyCount: keys.length,
  })
}

async function copyAcross(connection: Connection, key: string, old: readonly string[]): Promise<void> {
  for (const before of old) {
    if ((await copyKey(connection, before, key)) !== 'absent') return
  }
}

/** What became of a key that was to be moved: `taken` where something stands at its new name, `absent` where it is gone. */
export type Moved = 'moved' | 'taken' | 'absent'

/** Moves one key to another name with value and time to live, unless something stands there: then both stay as they are. */
export function moveKey(connection: Connection, from: string, to: string): Promise<Moved> {
  const apart = connection.cluster && slotOf(from) !== slotOf(to)
  return apart ? copyKey(connection, from, to) : renameKey(connection, from, to)
}

async function renameKey(connection: Connection, from: string, to: string): Promise<Moved> {
  try {
    return (await connection.send(['RENAMENX', from, to], TWO_KEYS)) === 1 ? 'moved' : 'taken'
  } catch (error) {
    if (error instanceof ServerError && error.reply.startsWith('ERR no such key')) return 'absent'
    throw error
  }
}

const TWO_KEYS: Shape = { firstKey: 1, keyCount: 2 }

/** To another slot: copied with the instant at which it ends, and deleted only if it still holds what was copied. */
async function copyKey(connection: Connection, from: string, to: string): Promise<Moved> {
  const found = await read.run(connection, { old: from }, {})
  if (found === null) return 'absent'
  const [dump, endsAt] = found
  try {
    await connection.send(['RESTORE', to, String(endsAt), dump, 'ABSTTL'], ONE_KEY)
  } catch (error) {
    if (!(error instanceof ServerError && error.reply.startsWith('BUSYKEY'))) throw error
    // A mover may have ended between copying and deleting; else what stands there is the newer, and the old one stays.
    const there = await connection.send(['DUMP', to], ONE_KEY_BYTES)
    if (there === null || !dump.equals(there as Buffer)) return 'taken'
  }
  await forget.run(connection, { old: from }, { dump })
  return 'moved'
}
