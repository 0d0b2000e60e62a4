import type { Argument, Connection, Reply } from '../../connection/connection.ts'
import { int } from '../../script/argument.ts'
import { script } from '../../script/script.ts'
import { textOf } from '../key-name.ts'
import type { Pace } from '../pace.ts'
import type { ArchiveRecord } from './archive.ts'
import * as lua from './lua.gen.ts'

/** A key with its value as it is moved; `undefined` where the key is gone. */
export type Dumped = Omit<ArchiveRecord, 'entry'> | undefined

/**
 * Dumps keys, in batches and in their order. A batch holds about a megabyte, or one value where that is larger; on a
 * cluster, where each key is asked for by itself, so many keys as `sizes` (what MEMORY USAGE says of each) allows.
 */
export async function* dumpKeys(
  connection: Connection,
  keys: readonly Buffer[],
  sizes: readonly number[],
  rest: Pace,
): AsyncGenerator<readonly Dumped[]> {
  for (let at = 0; at < keys.length;) {
    const asked = connection.cluster ? keys.slice(at, at + fitting(sizes, at)) : keys.slice(at)
    const dumped = await rest(() => ask(connection, asked))
    at += dumped.length
    yield dumped
  }
}

/** How many bytes of values are asked for, or written, at once. */
export const BATCH_BYTES = 1024 * 1024

/** Keys as they are best sent: clients write texts of one command together, and bytes each by itself. */
export function asArguments(keys: readonly Buffer[]): Argument[] {
  return keys.map((key) => textOf(key) ?? key)
}

const dumpScript = script('inspect/dump', {
  keys: ['keys*'],
  args: { budget: int },
  lua: lua.dump,
  bytes: true,
  reply: (reply) => reply as readonly Reply[],
})

async function ask(connection: Connection, keys: readonly Buffer[]): Promise<Dumped[]> {
  const run = (some: readonly Buffer[]) =>
    dumpScript.run(connection, { keys: asArguments(some) }, { budget: BATCH_BYTES })
  const answers = connection.cluster
    ? (await Promise.all(keys.map((key) => run([key])))).flat()
    : await run(keys)
  return Array.from({ length: answers.length / 3 }, (_, index) => {
    const [type, expiry, dump] = answers.slice(index * 3) as [Buffer, number, Buffer]
    if (type.length === 0) return undefined
    return {
      key: keys[index]!,
      type: type.toString(),
      expiresAtMs: expiry === 0 ? undefined : expiry,
      dump,
    }
  })
}

function fitting(sizes: readonly number[], from: number): number {
  let count = 1
  let sum = sizes[from]!
  while (from + count < sizes.length && (sum += sizes[from + count]!) <= BATCH_BYTES) count += 1
  return count
}
