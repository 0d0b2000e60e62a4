import { type Connection, UnsupportedClientError } from 'keyspec'
import {
  type Argument,
  globOf,
  int,
  ONE_KEY,
  pattern,
  listReply,
  bytesReply,
  rest,
  script,
  textArgument as text,
} from 'keyspec/extend'
import { decodeKey } from '../../match/key-name.ts'
import { throttle, type Throttle } from '../../scan/throttle.ts'
import type { Selection } from '../../scan/selection.ts'
import type { ArchiveRecord } from './archive.ts'
import { typeOfDump } from '../../rdb/dump-type.ts'
import * as lua from './lua.gen.ts'

/** A key with its value as it is moved, as it was at one moment. */
export interface Dumped extends Omit<ArchiveRecord, 'entry'> {
  /** Its text; `undefined` where the bytes are no UTF-8. */
  readonly name: string | undefined
}

/** Some more of the chosen keys. */
export interface DumpedBatch {
  readonly keys: readonly Dumped[]
  /** How many were found and gone before their turn came. */
  readonly gone: number
}

/**
 * Dumps the chosen keys, in batches of about a megabyte, or one value where that is larger. One script finds and dumps
 * them; where most of what it finds is not wanted, it only finds, and what is wanted is asked for next.
 */
export async function* dumpChosen(
  connection: Connection,
  selection: Selection,
  { maxLoad, signal }: { readonly maxLoad?: number | undefined; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<DumpedBatch> {
  const paced = throttle(maxLoad, signal)
  const built = new Set(selection.built.map(({ name }) => name))
  for (const name of built) {
    const batch = await dumpOne(connection, { key: Buffer.from(name), name }, paced)
    // It was never found, only named.
    if (batch.keys.length > 0) yield batch
  }
  if (selection.scanned === undefined) return

  const match = selection.scanned === '' ? '' : `${globOf(pattern(selection.scanned))}*`
  const count = maxLoad === 1 ? KEYS_AT_ONCE : FEW_KEYS_AT_ONCE
  const choose = (key: Buffer): Chosen | undefined => {
    const name = decodeKey(key)
    if (!selection.has(name) || (name !== undefined && built.has(name))) return undefined
    return { key, name }
  }
  let found = 0
  let wanted = 0
  for (const master of await connection.masters()) {
    let cursor = '0'
    do {
      const budget = wanted * 2 >= found ? BATCH_BYTES : 0
      const step = await paced(() =>
        dumpScript.run(master, { keys: [] }, { ...NOTHING, cursor, count, match, budget }),
      )
      cursor = step.next
      const chosen = step.names.map(choose)
      found += chosen.length
      wanted += chosen.reduce((sum, each) => (each === undefined ? sum : sum + 1), 0)
      const dumped = unpack(step.packed)
      const first = await batchOf(connection, chosen.slice(0, dumped.length), dumped, paced)
      if (first.keys.length > 0 || first.gone > 0) yield first
      let left = chosen.slice(dumped.length).filter((each) => each !== undefined)
      while (left.length > 0) {
        const names = left.map(({ key, name }) => name ?? key)
        const { packed } = await paced(() =>
          dumpScript.run(master, { keys: [] }, { ...NOTHING, budget: BATCH_BYTES, names }),
        )
        const some = unpack(packed)
        yield await batchOf(connection, left.slice(0, some.length), some, paced)
        left = left.slice(some.length)
      }
    } while (cursor !== '0')
  }
}

/** Dumps the first of these keys that is there. */
export async function dumpSome(connection: Connection, keys: readonly Buffer[]): Promise<Dumped | undefined> {
  for (const key of keys) {
    const { keys: found } = await dumpOne(connection, { key, name: decodeKey(key) }, (batch) => batch())
    if (found.length > 0) return found[0]
  }
  return undefined
}

/** How many bytes of values are asked for, or written, at once. */
export const BATCH_BYTES = 1024 * 1024

/** How many keys are asked for, or written, at once where the server's time is ours. */
export const KEYS_AT_ONCE = 500

const FEW_KEYS_AT_ONCE = 50

/** Keys as they are best sent: clients write texts of one command together, and bytes each by itself. */
export function asArguments(keys: readonly Buffer[]): Argument[] {
  return keys.map((key) => decodeKey(key) ?? key)
}

/** The length of what stands before each dump in a packed text: the expiry, a double, and the length, a u32. */
export const PACKED_HEAD = 12

const ELSEWHERE = 2 ** 32 - 1
const NOTHING = { cursor: '', count: 0, match: '', names: [] }

const dumpScript = script('inspect/dump', {
  keys: ['keys*'],
  args: { cursor: text, count: int, match: text, budget: int, names: rest },
  lua: lua.dump,
  commands: ['DUMP', 'PEXPIRETIME', 'PTTL', 'SCAN', 'TIME'],
  bytes: true,
  reply: (reply) => {
    const [next, packed, ...names] = listReply(bytesReply)(reply)
    if (next === undefined || packed === undefined)
      throw new UnsupportedClientError('the server answered no packed values')
    return { next: String(next), packed, names }
  },
})

interface Chosen {
  readonly key: Buffer
  readonly name: string | undefined
}

interface Value {
  readonly expiresAtMs: number | undefined
  readonly dump: Buffer
}

/** The values of a packed text; `'gone'` and `'elsewhere'` for keys that have none to give. */
function unpack(packed: Buffer): readonly (Value | 'gone' | 'elsewhere')[] {
  const values: (Value | 'gone' | 'elsewhere')[] = []
  for (let at = 0; at < packed.length;) {
    const expiry = packed.readDoubleLE(at)
    const length = packed.readUInt32LE(at + 8)
    at += PACKED_HEAD
    if (length === ELSEWHERE || length === 0) {
      values.push(length === 0 ? 'gone' : 'elsewhere')
      continue
    }
    values.push({
      expiresAtMs: expiry === 0 ? undefined : expiry,
      dump: packed.subarray(at, (at += length)),
    })
  }
  return values
}

async function batchOf(
  connection: Connection,
  chosen: readonly (Chosen | undefined)[],
  values: readonly (Value | 'gone' | 'elsewhere')[],
  paced: Throttle,
): Promise<DumpedBatch> {
  const keys: Dumped[] = []
  let gone = 0
  for (const [index, value] of values.entries()) {
    const each = chosen[index]
    if (each === undefined) continue
    if (value === 'elsewhere') {
      const found = await dumpOne(connection, each, paced)
      keys.push(...found.keys)
      gone += found.gone
      continue
    }
    const type =
      value === 'gone'
        ? 'none'
        : (typeOfDump(value.dump) ?? String(await connection.send(['TYPE', each.key], ONE_KEY)))
    if (value === 'gone' || type === 'none') gone += 1
    else {
      const { expiresAtMs, dump } = value
      keys.push({ key: each.key, name: each.name, type, expiresAtMs, dump })
    }
  }
  return { keys, gone }
}

/** Dumps one key wherever it is. */
async function dumpOne(connection: Connection, chosen: Chosen, paced: Throttle): Promise<DumpedBatch> {
  const { packed } = await paced(() =>
    dumpScript.run(connection, { keys: [chosen.name ?? chosen.key] }, { ...NOTHING, budget: 1 }),
  )
  return batchOf(connection, [chosen], unpack(packed), paced)
}
