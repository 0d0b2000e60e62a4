import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'redis'
import { expect, test, type TestContext } from 'vitest'
import type { Opened } from '../../../test-support/connections.ts'
import { defaultClients } from '../../../test-support/default-clients.ts'
import { expectPart, grouped } from '../../../test-support/guarantees.ts'
import { isAlone, prepared, type Row, rowsOf, type Runner, runner } from '../../../test-support/measured.ts'
import { compileClock, type ServerClock } from '../../../test-support/server-clock.ts'
import { answerOf, fateOf, type References, type Told, told } from '../../../test-support/stepped.ts'
import { steppedTables } from '../../../test-support/stepped-verbs.ts'
import { lapsed, openVerbs, verbTables } from '../../../test-support/verbs.ts'
import type { Connection } from './connection/connection.ts'
import { fromNodeRedis } from './connection/client/node-redis.ts'
import type { LifetimeOptions } from './kind/lifetime.ts'
import { startRedis, type TemporaryRedis, unique } from './testing/index.ts'

const THREE_DAYS = 259_200_000
const LASTING: LifetimeOptions = { ttl: '2h' }
const FOREVER: LifetimeOptions = { ttl: 'forever', reason: 'a test' }
const rows = [...rowsOf(verbTables), ...rowsOf(steppedTables)]
const isOfQueue = ({ table }: Row) => table === 'queue'

/** The steps of the clock, beyond every lifetime, lease and window of the verbs' keys, which last two hours. */
const steps: readonly (readonly [name: string, ms: number, ttl: LifetimeOptions])[] = [
  ['three days forwards', THREE_DAYS, LASTING],
  ['forwards, keys without a time to live', THREE_DAYS, FOREVER],
  ['three days backwards', -THREE_DAYS, LASTING],
]

interface Place {
  readonly redis: TemporaryRedis
  readonly clock: ServerClock
  readonly steady: Connection
  readonly over: readonly Opened[]
}

async function start(context: TestContext): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'keyspec-clock-'))
  context.onTestFinished(() => rmSync(folder, { recursive: true }))
  const clock = compileClock(folder)
  if ('skipped' in clock) {
    const left = 'the table "a clock that steps" of docs/guarantees.md is neither measured nor compared'
    process.stderr.write(`SKIPPED: ${left}: ${clock.skipped}
`)
    return context.skip(clock.skipped)
  }
  const redis = await startRedis({ port: 'any', binary: clock.server })
  context.onTestFinished(() => redis.stop())
  const client = createClient({ socket: { path: redis.socket, tls: false } })
  await client.connect()
  context.onTestFinished(() => client.destroy())
  const over = await Promise.all(
    defaultClients.map(([, open]) => open(redis, { requestTimeout: 5_000, timeout: '30s' })),
  )
  context.onTestFinished(async () => {
    for (const { close } of over) await close()
  })
  return { redis, clock, steady: fromNodeRedis(client), over }
}

/** Runs verbs over a connection, without a step of their own. */
async function answers(
  some: readonly Row[],
  connection: Connection,
  { prefixOf }: Runner,
  ttl: LifetimeOptions,
) {
  const calls = some.map((row) => answerOf(row.verb.act(openVerbs(connection, prefixOf(row), ttl), () => {})))
  return new Map(await Promise.all(some.map(async (row, at) => [row, await calls[at]] as const)))
}

/** What every verb does without a step. */
async function referencesOf({ redis, steady }: Place, ttl: LifetimeOptions): Promise<References> {
  const run = unique()
  const openKeys = (connection: Connection, prefix: string) => openVerbs(connection, prefix, ttl)
  const found = async (name: string, some: readonly Row[], isPrepared: boolean) => {
    const over = runner(name, run, some)
    if (isPrepared) await prepared([over], steady, openKeys)
    return told(redis, over, await answers(some, steady, over, ttl))
  }
  const afterLease = rows.filter(isOfQueue).map((row) => ({ ...row, verb: { ...row.verb, prepare: lapsed } }))
  const [usual, absent, late] = await Promise.all([
    found('usual', rows, true),
    found('absent', rows, false),
    found('lapsed', afterLease, true),
  ])
  const byName = new Map(afterLease.map((row, at) => [rows.filter(isOfQueue)[at]!, late.get(row)!]))
  return { usual, absent, lapsed: byName }
}

/** What every verb does over every client if the clock is stepped before it, or within it where it begins the fault. */
async function stepped(
  { redis, clock, steady, over }: Place,
  ms: number,
  ttl: LifetimeOptions,
): Promise<readonly ReadonlyMap<Row, Told>[]> {
  const run = unique()
  const openKeys = (connection: Connection, prefix: string) => openVerbs(connection, prefix, ttl)
  const runners = defaultClients.map(([name]) => runner(name, run, rows))
  const alone = rows.filter(isAlone)
  const found = runners.map(() => new Map<Row, Told>())
  for (const [at, each] of runners.entries())
    for (const row of alone) {
      const prefix = each.prefixOf(row)
      await row.verb.prepare?.(openKeys(steady, prefix), { connection: steady, prefix })
      const call = row.verb.act(openKeys(over[at]!.connection, prefix), () => clock.step(ms))
      const answer = await answerOf(call)
      found[at]!.set(row, (await told(redis, each, new Map([[row, answer]]))).get(row)!)
      clock.step(0)
    }
  const others = rows.filter((row) => !isAlone(row))
  await prepared(
    runners.map((each) => ({ ...each, rows: others })),
    steady,
    openKeys,
  )
  clock.step(ms)
  await Promise.all(
    runners.map(async (each, at) => {
      const given = await answers(others, over[at]!.connection, each, ttl)
      for (const [row, end] of await told(redis, each, given)) found[at]!.set(row, end)
    }),
  )
  clock.step(0)
  return found
}

test('what every verb does after a step of the server clock is what docs/guarantees.md says', async (context) => {
  const place = await start(context)
  const [lasting, forever] = await Promise.all([referencesOf(place, LASTING), referencesOf(place, FOREVER)])
  const columns: (readonly string[])[] = []
  for (const [, ms, ttl] of steps) {
    const references = ttl === FOREVER ? forever : lasting
    const found = await stepped(place, ms, ttl)
    columns.push(
      rows.map((row) => {
        if (row.name.endsWith('above the last'))
          expect(found.map((each) => each.get(row)!.answer)).toEqual(found.map(() => true))
        const fates = new Set(found.map((each) => fateOf(row, each.get(row)!, references, ms)))
        expect(fates.size, `${row.table} ${row.name}: ${[...fates].join(' or ')}`).toBe(1)
        return [...fates][0]!
      }),
    )
  }
  const heads = steps.map(([name]) => name)
  expectPart(
    'a clock that steps',
    grouped(
      heads,
      rows.map((row, at) => [row, columns.map((column) => column[at]!)] as const),
    ),
  )
}, 120_000)
