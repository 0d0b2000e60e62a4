import { isUnavailable } from '../packages/keyspec/src/connection/server-error.ts'
import { type Connection, NO_KEY } from '../packages/keyspec/src/connection/connection.ts'
import { KeyspecError } from '../packages/keyspec/src/errors.ts'
import { eventually, type TemporaryRedis, unique } from '../packages/keyspec/src/testing/index.ts'
import type { Opened } from './connections.ts'
import type { Direction, Proxy } from './proxy.ts'
import { rawStates, shown, stillStates } from './raw-state.ts'
import { openVerbs, type Verb, type VerbKeys, type VerbTable, verbTables } from './verbs.ts'

/** One verb of the table, by the name of its handle. */
export interface Row {
  readonly table: string
  readonly name: string
  readonly verb: Verb
}

/** All verbs of some tables. */
export function rowsOf(tables: readonly VerbTable[]): readonly Row[] {
  return tables.flatMap((table) =>
    Object.entries(table.verbs).map(([name, verb]) => ({
      table: table.name,
      name,
      verb:
        verb.prepare === undefined && table.prepare !== undefined
          ? { ...verb, prepare: table.prepare }
          : verb,
    })),
  )
}

/** All verbs of all tables. */
export const rows: readonly Row[] = rowsOf(verbTables)

/** What a call came to: what its answer is called, or the code of its error. */
export interface Ended {
  readonly answers?: string
  readonly code?: string
}

/** How often a verb was applied, and what it answered. `times` is undefined where that shows in no state. */
export interface Measured extends Ended {
  readonly row: Row
  readonly client: string
  readonly times: number | undefined
  /** How often it was applied in the eyes of the server that took over. */
  readonly left?: number | undefined
}

/** A client that runs every verb, each behind a prefix of its own. */
export interface Runner {
  readonly client: string
  readonly rows: readonly Row[]
  prefixOf(row: Row): string
}

/** Names the prefixes of a client's run. All share one hash tag, so that on a cluster they are in one slot. */
export function runner(client: string, run: string, some: readonly Row[] = rows): Runner {
  return {
    client,
    rows: some,
    prefixOf: (row) => `{${run}}${client.replaceAll(' ', '')}-${some.indexOf(row)}/`,
  }
}

/** Opens the keyspace of a verb. */
export type OpenKeys = (connection: Connection, prefix: string) => VerbKeys

/** Prepares the state of every verb over a connection that works. */
export async function prepared(
  runners: readonly Runner[],
  connection: Connection,
  openKeys: OpenKeys = openVerbs,
): Promise<void> {
  await Promise.all(
    runners.flatMap(({ prefixOf, rows: some }) =>
      some.map(async (row) => {
        const prefix = prefixOf(row)
        await row.verb.prepare?.(openKeys(connection, prefix), { connection, prefix })
      }),
    ),
  )
}

/** The states of a verb that show how often it was applied. */
export interface Expected {
  readonly before: string
  readonly once: string
  readonly twice: string
}

/** Applies every verb without a fault, twice, and returns its states; an error if the table says of it what is not so. */
export async function expectedStates(
  redis: TemporaryRedis,
  connection: Connection,
  run: string,
  some: readonly Row[] = rows,
  openKeys: OpenKeys = openVerbs,
): Promise<ReadonlyMap<Row, Expected>> {
  const normal = runner('normal', run, some)
  const unapplied = runner('unapplied', run, some)
  await prepared([normal, unapplied], connection, openKeys)
  await Promise.all(
    some.map(async (row) => row.verb.unapplied?.(openKeys(connection, unapplied.prefixOf(row)))),
  )
  const states = async ({ prefixOf }: Runner) => {
    const found = await rawStates(redis, some.map(prefixOf))
    return new Map(some.map((row) => [row, shown(found.get(prefixOf(row))!, row.verb.sees ?? 'values')]))
  }
  const apply = () =>
    Promise.all(
      some.map((row) => {
        const keys = openKeys(connection, normal.prefixOf(row))
        return row.verb.act(keys, () => {}).catch((error: unknown) => error)
      }),
    )
  const untouched = await states(normal)
  const before = new Map(
    [...(await states(unapplied))].map(([row, state]) => [
      row,
      row.verb.unapplied ? state : untouched.get(row)!,
    ]),
  )
  const failed = (await apply()).filter((end) => end instanceof Error)
  if (failed.length > 0) throw new AggregateError(failed, `a verb fails without a fault: ${failed[0]}`)
  const once = await states(normal)
  await apply()
  const twice = await states(normal)
  for (const row of some) {
    if (!row.verb.changes === (before.get(row) === once.get(row))) continue
    throw new Error(
      `${row.table}: ${row.name} ${row.verb.changes ? 'changes nothing' : 'changes its key'}, against the table of verbs: ` +
        `${before.get(row)} ${once.get(row)}`,
    )
  }
  return new Map(
    some.map((row) => [row, { before: before.get(row)!, once: once.get(row)!, twice: twice.get(row)! }]),
  )
}

/** Waits for a call, and says what it came to. */
export async function ended({ verb }: Row, call: Promise<unknown>): Promise<Ended> {
  try {
    const answer = await call
    return { answers: verb.says?.(answer) ?? 'answers' }
  } catch (error) {
    if (error instanceof KeyspecError || isUnavailable(error)) return { code: (error as KeyspecError).code }
    throw error
  }
}

/** The fault of a connection: what is withheld, and whether the connection is then cut or goes on once all have given up. */
export interface Fault {
  readonly stalls: Direction
  readonly ends: 'cut' | 'late'
}

export const faults = {
  'request lost': { stalls: 'requests', ends: 'cut' },
  'reply lost': { stalls: 'replies', ends: 'cut' },
  'timed out': { stalls: 'requests', ends: 'late' },
} as const satisfies { readonly [name: string]: Fault }

/** Whether a verb begins its fault itself, and so needs a connection of its own. */
export const isAlone = ({ verb }: Row) => verb.act.length > 1

/**
 * Lets a fault run its course once all that was sent so far, or the replies to it, have come as far as the proxy. A marker
 * behind it on each connection shows that: a client may send what one tick gathers piece by piece, and what comes after the
 * cut is not lost.
 *
 * @param over The connections that the calls use.
 */
async function finish(
  over: readonly Connection[],
  proxy: Proxy,
  { stalls, ends }: Fault,
  calls: readonly Promise<unknown>[],
): Promise<void> {
  await new Promise(setImmediate) // all that one tick gathers has gone out
  const markers = over.map((connection) => {
    const text = unique()
    return { text, sent: connection.send(['ECHO', text], NO_KEY).catch(() => {}) }
  })
  const arrived = (withheld: Buffer) => markers.every(({ text }) => withheld.includes(text))
  const settled = Promise.allSettled([...calls, ...markers.map(({ sent }) => sent)])
  if (ends === 'late') await settled
  else {
    const coming = eventually(
      () => {
        if (!arrived(proxy.withheld(stalls))) throw new Error(`not all ${stalls} have come to the proxy`)
      },
      { within: '20s' },
    )
    await Promise.race([coming, settled])
    proxy.cut()
  }
  await proxy.restore()
  await settled
  // What was withheld, and what a client repeats, reaches the server before this.
  for (const connection of over) await eventually(() => connection.send(['PING'], NO_KEY), { within: '20s' })
}

/** The verbs that need no connection of their own, so many at a time that GLIDE has all of them under way. */
export const batches: readonly (readonly Row[])[] = Array.from({ length: 4 }, (_, at) =>
  rows.filter((row) => !isAlone(row)).filter((_row, place) => place % 4 === at),
)

/**
 * Runs verbs that need no connection of their own over one connection, with a fault that meets them all, or with none.
 *
 * @param second The other connection of verbs whose writes a replica acknowledges.
 */
export async function runTogether(
  some: readonly Row[],
  { connection }: Opened,
  proxy: Proxy,
  { prefixOf }: Runner,
  fault?: Fault,
  openKeys: OpenKeys = openVerbs,
  second?: Connection,
): Promise<ReadonlyMap<Row, Ended>> {
  await eventually(() => connection.send(['PING'], NO_KEY), { within: '20s' })
  const keys = some.map((row) => openKeys(connection, prefixOf(row)))
  if (fault !== undefined) proxy.stall(fault.stalls)
  const calls = some.map((row, at) =>
    ended(
      row,
      row.verb.act(keys[at]!, () => {}),
    ),
  )
  if (fault !== undefined) await finish(both(connection, second), proxy, fault, calls)
  return new Map(await Promise.all(some.map(async (row, at) => [row, await calls[at]!] as const)))
}

const both = (connection: Connection, second: Connection | undefined) =>
  second === undefined ? [connection] : [connection, second]

/** Runs a verb that begins its fault itself, over a connection of its own. */
export async function runAlone(
  row: Row,
  { connection }: Opened,
  proxy: Proxy,
  { prefixOf }: Runner,
  fault: Fault,
  openKeys: OpenKeys = openVerbs,
  second?: Connection,
): Promise<Ended> {
  await eventually(() => connection.send(['PING'], NO_KEY), { within: '20s' })
  let begin: () => void
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const call = ended(
    row,
    row.verb.act(openKeys(connection, prefixOf(row)), () => {
      proxy.stall(fault.stalls)
      begin()
    }),
  )
  await Promise.race([begun, call])
  await finish(both(connection, second), proxy, fault, [call])
  return call
}

/** How often every verb of these runs was applied, by the state of its keys. */
export async function timesApplied(
  redis: TemporaryRedis,
  runners: readonly Runner[],
  expected: ReadonlyMap<Row, Expected>,
): Promise<(runner: Runner, row: Row) => number | undefined> {
  const states = await stillStates(
    redis,
    runners.flatMap(({ prefixOf, rows: some }) => some.map(prefixOf)),
  )
  return ({ prefixOf }, row) => {
    if (!row.verb.changes) return undefined
    const found = shown(states.get(prefixOf(row))!, row.verb.sees ?? 'values')
    const { before, once, twice } = expected.get(row)!
    if (found === before) return 0
    if (found === once) return 1
    return found === twice ? 2 : Number.NaN
  }
}
