import { type Connection, ServerError } from 'keyspec'
import {
  booleanReply,
  moveAcross,
  type MoveResult,
  ONE_KEY,
  script,
  type Shape,
  sleep,
  slotOf,
} from 'keyspec/extend'
import * as lua from './lua.gen.ts'
import type { MigrateState } from './migrate-sums.ts'

/** Moves one key to another name; where a value stands there, the old one stays, or is deleted (`drops`). */
export async function moved(
  connection: Connection,
  prefix: string,
  from: string,
  to: string,
  drops: boolean,
): Promise<MigrateState> {
  const became = await patiently(() => moveKey(connection, prefix, from, to))
  if (became !== 'taken' || !drops) return STATES[became]
  if (await patiently(() => dropped(connection, from, to))) return 'dropped'
  // What stood at the new name is gone meanwhile: then nothing is in the way.
  return STATES[await patiently(() => moveKey(connection, prefix, from, to))]
}

const STATES: Readonly<Record<MoveResult, MigrateState>> = {
  moved: 'moved',
  taken: 'conflict',
  absent: 'gone',
}

/** Moves one key to another name with value and time to live, unless a value stands there: then both stay as they are. */
function moveKey(connection: Connection, prefix: string, from: string, to: string): Promise<MoveResult> {
  const apart = connection.cluster && slotOf(from) !== slotOf(to)
  return apart ? moveAcross(connection, prefix, from, to) : renameKey(connection, from, to)
}

async function renameKey(connection: Connection, from: string, to: string): Promise<MoveResult> {
  try {
    return (await connection.send(['RENAMENX', from, to], TWO_KEYS)) === 1 ? 'moved' : 'taken'
  } catch (error) {
    if (error instanceof ServerError && error.reply.startsWith('ERR no such key')) return 'absent'
    throw error
  }
}

const TWO_KEYS: Shape = { firstKey: 1, keyCount: 2 }

async function dropped(connection: Connection, old: string, key: string): Promise<boolean> {
  if (!connection.cluster || slotOf(old) === slotOf(key)) return drop.run(connection, { key, old }, {})
  if ((await connection.send(['EXISTS', key], ONE_KEY)) === 0) return false
  return (await connection.send(['UNLINK', old], ONE_KEY)) === 1
}

/** While a slot of a cluster moves, two names in it cannot be reached at once: asked again until they can. */
async function patiently<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof ServerError && /^(TRYAGAIN|ASK|MOVED)/.test(error.reply)) || tries === 100)
        throw error
      await sleep(50)
    }
  }
}

const drop = script('inspect/migrate-drop', {
  keys: ['key', 'old'],
  args: {},
  lua: lua.migrateDrop,
  commands: ['EXISTS', 'UNLINK'],
  reply: booleanReply,
})
