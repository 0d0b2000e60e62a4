import { type Command, type Connection, ONE_KEY, type Reply, type Shape } from '../connection/connection.ts'
import { slotOf } from '../connection/slot.ts'
import { MigrationError } from '../errors.ts'
import { digits, flag, text } from '../script/argument.ts'
import {
  anyReply,
  booleanReply,
  bytesReply,
  decodeReply,
  integerReply,
  optionalReply,
  tupleReply,
} from '../connection/reply.ts'
import { script } from '../script/script.ts'
import { evaluate } from '../script/source.ts'
import type { Phase } from './kind.ts'
import * as lua from './lua.gen.ts'
import type { Body } from './renaming-body.ts'
import { twoNames } from './renaming-error.ts'

const setAside = script('kind/set-aside', {
  keys: ['from', 'aside', 'marker'],
  args: { token: text },
  lua: lua.setAside,
  commands: ['DUMP', 'EXISTS', 'HGET', 'HSET', 'PEXPIRETIME', 'PTTL', 'RENAME', 'TIME'],
  bytes: true,
  reply: optionalReply(tupleReply(bytesReply, bytesReply, integerReply)),
})
const restoreOnce = script('kind/restore-once', {
  keys: ['to', 'marker'],
  args: { token: text, dump: text, endsAt: digits },
  lua: lua.restoreOnce,
  commands: ['EXISTS', 'HDEL', 'HGET', 'HSET', 'RESTORE'],
  reply: booleanReply,
})
const endMove = script('kind/end-move', {
  keys: ['from', 'aside', 'marker'],
  args: { token: text, back: flag },
  lua: lua.endMove,
  commands: ['EXISTS', 'HGET', 'HSET', 'RENAME', 'UNLINK'],
  reply: booleanReply,
})

const ROUTED = tupleReply(integerReply, anyReply)

/** A command on one key whose old and new names are in different slots. */
export interface Routed {
  readonly command: Command
  readonly shape: Shape
  readonly body: Body
  readonly key: string
  readonly old: string
  readonly writes: boolean
  readonly removes: boolean
}

/** The commands of a read: in phase 2 they leave no marker for a key that exists nowhere. */
export const READS: ReadonlySet<string> = new Set(
  (
    'EXISTS TYPE TTL PTTL PEXPIRETIME STRLEN GET GETRANGE MGET HGET HMGET HGETALL HLEN HEXISTS HKEYS HVALS HSCAN ' +
    'HRANDFIELD LLEN LRANGE LINDEX LPOS SMEMBERS SISMEMBER SMISMEMBER SCARD SRANDMEMBER SSCAN ZCARD ZCOUNT ZSCORE ' +
    'ZMSCORE ZRANK ZREVRANK ZRANGE ZSCAN ZRANDMEMBER XLEN XRANGE XREVRANGE XREAD XINFO XPENDING DUMP UNLINK PEXPIRE PERSIST'
  ).split(' '),
)

/**
 * Runs commands on keys whose two names a cluster keeps in different slots. The old name's slot decides where a key is:
 * each command first runs there, as a script that runs it only if the key is there, and else says where it went. A key never
 * moves on access; only a move that `moveAcross` began is ended. The commands on one key go out one after another.
 */
export function acrossSlots(
  connection: Connection,
  prefix: string,
  phase: Phase,
): (routed: Routed) => Promise<Reply> {
  const lasts = new Map<string, Promise<unknown>>()

  const ask = async (routed: Routed, side: 'old' | 'new', sure: boolean, exists: boolean) => {
    const { body, shape, writes } = routed
    const name = side === 'old' ? routed.old : routed.key
    const { aside, marker } = besideOf(name, prefix)
    const flags = [writes, sure, exists].map((is) => (is ? '1' : '0'))
    const words = [side, String(phase), ...flags, ...body.given]
    const command = ['EVALSHA', body.routed.sha, '3', name, aside, marker, ...words]
    const how = { firstKey: 3, keyCount: 3, ...(shape.bytes === true ? { bytes: true } : {}) }
    return decodeReply(ROUTED, await evaluate(connection, body.routed, command, how), routed.key)
  }

  const route = async (routed: Routed): Promise<Reply> => {
    const { key, old, removes } = routed
    let isSure = false
    let exists = false
    let isReturned = false
    for (;;) {
      const [where, reply] = await ask(routed, 'old', isSure, exists)
      if (where === HERE) return reply
      if (where === FREE) {
        exists = (await connection.send(['EXISTS', key], ONE_KEY)) === 1
        isSure = !exists
      } else if (where === BOTH) {
        if (!removes) throw twoNames(key)
        await Promise.all([key, old].map((name) => connection.send(['UNLINK', name], ONE_KEY)))
        return 1
      } else if (where === ON_ITS_WAY) {
        if ((await moveAcross(connection, prefix, old, key)) === 'taken') throw twoNames(key)
      } else {
        const [there, answer] = await ask(routed, 'new', isReturned, false)
        if (there === HERE) return answer
        // It was moved back meanwhile, or that was long ago.
        if (there === ON_ITS_WAY) await moveAcross(connection, prefix, key, old)
        else isReturned = true
      }
    }
  }

  return (routed) => {
    const { key } = routed
    const before = lasts.get(key)
    const own =
      before === undefined
        ? route(routed)
        : before.then(
            () => route(routed),
            () => route(routed),
          )
    const done = own.then(
      () => undefined,
      () => undefined,
    )
    lasts.set(key, done)
    void done.then(() => {
      if (lasts.get(key) === done) lasts.delete(key)
    })
    return own
  }
}

const HERE = 0
const ON_ITS_WAY = 2
const BOTH = 3
const FREE = 4

/** What became of a key that was to be moved: `taken` if another value stands at its new name, `absent` if it is gone. */
export type MoveResult = 'moved' | 'taken' | 'absent'

/**
 * Moves a key to a name in another slot: sets it aside in its own slot, creates it once at its new name with the instant at
 * which it ends, and deletes what was set aside. Killed after any step, it is ended by the next call, or by any verb at phase
 * 1 or 2 that touches the key. If another value stands at the new name, the key gets its name back.
 */
export async function moveAcross(
  connection: Connection,
  prefix: string,
  from: string,
  to: string,
): Promise<MoveResult> {
  const { aside, marker } = besideOf(from, prefix)
  const found = await setAside.run(connection, { from, aside, marker }, { token: crypto.randomUUID() })
  if (found === undefined) return 'absent'
  const [token, dump, endsAt] = found
  const created = await restoreOnce.run(
    connection,
    { to, marker: besideOf(to, prefix).marker },
    { token, dump, endsAt },
  )
  await endMove.run(connection, { from, aside, marker }, { token, back: !created })
  return created ? 'moved' : 'taken'
}

/** The keys beside a name, in its slot: one for a value on its way, and a hash that says what moved. */
export interface Beside {
  readonly aside: string
  readonly marker: string
}

/** Begins the name of a key that is set aside while it moves to another slot; it stands behind the keyspace's prefix. */
export const ASIDE = 'keyspec:moving:'

/** Begins the name of a note that says where a key has gone; it stands behind the keyspace's prefix. */
export const MARKER = 'keyspec:moved:'

/** The keys beside a name. Throws a `MigrationError` for a name with braces that leave no other name in its slot. */
function besideOf(name: string, prefix: string): Beside {
  const hasTag = /^[^{]*\{[^}]+\}/.test(name)
  const rest = hasTag ? name.slice(prefix.length) : `{${name}}`
  const beside = { aside: prefix + ASIDE + rest, marker: prefix + MARKER + rest }
  if (slotOf(beside.aside) !== slotOf(name))
    throw new MigrationError(
      `${name}: its braces leave no other name in its slot, so it cannot be moved`,
      name,
    )
  return beside
}
