import { expect, onTestFinished, test } from 'vitest'
import {
  clusterConnections,
  type Opened,
  sentinelConnections,
  type Way,
} from '../../../test-support/connections.ts'
import { type Column, expectGuaranteed, falseAnswers } from '../../../test-support/guarantees.ts'
import { type Cluster, startCluster, startSentinels } from '../../../test-support/index.ts'
import {
  type Expected,
  ended,
  expectedStates,
  type Measured,
  type OpenKeys,
  prepared,
  rowsOf,
  type Row,
  type Runner,
  runner,
  timesApplied,
} from '../../../test-support/measured.ts'
import { openBeside, replicatedTables } from '../../../test-support/replicated-verbs.ts'
import { openVerbs } from '../../../test-support/verbs.ts'
import { NO_KEY } from './connection/connection.ts'
import type { Duration } from './duration.ts'
import { eventually, type TemporaryRedis, unique } from './testing/index.ts'

/** One of each client: RESP2 and RESP3 make no difference to when a command is applied. */
const eachClient = <Server>(ways: readonly Way<Server>[]) => ways.filter(([name]) => !name.includes('RESP2'))

async function opened<Server>(ways: readonly Way<Server>[], server: Server): Promise<Opened[]> {
  const all = await Promise.all(eachClient(ways).map(([, open]) => open(server)))
  onTestFinished(async () => {
    for (const { close } of all) await close()
  })
  for (const { connection } of all)
    await eventually(() => connection.send(['PING'], NO_KEY), { within: '20s' })
  return all
}

/** Runs every verb over every client, without a fault of its own. */
async function apply(
  over: readonly Opened[],
  runners: readonly Runner[],
  openKeysOver: (at: number) => OpenKeys = () => openVerbs,
) {
  return Promise.all(
    over.map(async ({ connection }, at) => {
      const { prefixOf, rows: some } = runners[at]!
      const openKeys = openKeysOver(at)
      const ends = some.map((row) =>
        ended(
          row,
          row.verb.act(openKeys(connection, prefixOf(row)), () => {}),
        ),
      )
      return new Map(await Promise.all(some.map(async (row, place) => [row, await ends[place]!] as const)))
    }),
  )
}

async function measure(
  redis: TemporaryRedis,
  runners: readonly Runner[],
  outcomes: Awaited<ReturnType<typeof apply>>,
  expected: ReadonlyMap<Row, Expected>,
): Promise<Measured[]> {
  const times = await timesApplied(redis, runners, expected)
  return runners.flatMap((each, at) =>
    each.rows.map((row) => ({
      row,
      client: each.client,
      times: times(each, row),
      ...outcomes[at]!.get(row)!,
    })),
  )
}

/** Waits until the replica of a primary has all that was written. */
async function caughtUp(primary: TemporaryRedis, key: string): Promise<void> {
  await primary.command('SET', key, 'x')
  expect(await primary.command('WAIT', '1', '20000')).toBe(1)
}

/** Cuts the replica of a primary off for good: it lacks all that is written from now on. */
async function cutOff(primary: TemporaryRedis): Promise<void> {
  await primary.command('ACL', 'SETUSER', 'default', '-psync', '-sync')
  await primary.command('CLIENT', 'KILL', 'TYPE', 'replica')
  await eventually(async () =>
    expect(String(await primary.command('INFO', 'replication'))).toContain('connected_slaves:0'),
  )
}

/**
 * What was measured before a failover, with how often each verb was applied in the eyes of the new primary.
 *
 * @param lagged Whether the new primary lacks these writes: then the lock that a verb takes first is lost as well.
 */
const withLeft = (before: readonly Measured[], after: readonly Measured[], lagged: boolean): Measured[] =>
  before.map((found, at) => {
    if (found.times === undefined) return found
    const isGone = lagged && found.row.verb.unapplied !== undefined
    return { ...found, left: isGone ? 0 : after[at]!.times }
  })

/** The verbs whose answers say how many replicas have the write. */
const replicatedRows = rowsOf(replicatedTables).filter(({ verb }) => verb.changes && verb.says !== undefined)

/** The measurements of two runs of one client under its own name. */
const named = (found: readonly Measured[]) =>
  found.map((each) => ({ ...each, client: each.client.replace(/ (?:un)?known$/, '') }))

test('over a cluster, what every verb does is what docs/guarantees.md says', async () => {
  const cluster = await startCluster({ replicas: 1 })
  onTestFinished(() => cluster.stop())
  const over = await opened(clusterConnections, cluster)
  const columns: Column[] = []
  for (const fault of ['slot moved', 'replica took over'] as const) {
    const run = unique()
    const runners = eachClient(clusterConnections).map(([name]) => runner(name, run))
    const slot = await cluster.slotOf(`{${run}}`)
    const owner = await cluster.ownerOf(slot)
    const expected = await expectedStates(owner, over[0]!.connection, run)
    await prepared(runners, over[0]!.connection)
    // The clients know of neither: they learn it from the answers to these verbs.
    if (fault === 'slot moved') {
      const masters = await cluster.masters()
      await cluster.moveSlot(
        slot,
        masters.find((node) => node !== owner)!,
      )
    } else await cluster.failover(slot)
    const outcomes = await apply(over, runners)
    const measured = await measure(await cluster.ownerOf(slot), runners, outcomes, expected)
    columns.push({ fault, open: fault === 'slot moved' ? 'nothing' : 'connections', measured })
  }
  columns.push({ fault: 'primary crashed', open: 'nothing', measured: await crashed(cluster, over) })
  expectGuaranteed('a cluster', columns)
})

/**
 * Every verb before a primary crashes whose replica is cut off, and what is left of it on the replica. Verbs that are under
 * way at the crash answer, or reject as unavailable.
 */
async function crashed(cluster: Cluster, over: readonly Opened[]): Promise<Measured[]> {
  const run = unique()
  const clients = eachClient(clusterConnections)
  const answering = clients.map(([name]) => runner(name, run))
  const underWay = clients.map(([name]) => runner(`${name} at the crash`, run))
  const slot = await cluster.slotOf(`{${run}}`)
  const owner = await cluster.ownerOf(slot)
  const expected = await expectedStates(owner, over[0]!.connection, run)
  await prepared([...answering, ...underWay], over[0]!.connection)
  await caughtUp(owner, `{${run}}probe`)
  await cutOff(owner)
  const outcomes = await apply(over, answering)
  const before = await measure(owner, answering, outcomes, expected)

  owner.pause()
  const calls = apply(over, underWay)
  await new Promise(setImmediate)
  await owner.kill()
  const next = await eventually(
    async () => {
      const now = await cluster.ownerOf(slot)
      expect(now).not.toBe(owner)
      return now
    },
    { within: '60s' },
  )
  const late = await measure(next, underWay, await calls, expected)
  expect(falseAnswers({ measured: late, open: 'connections' })).toEqual([])
  return withLeft(before, await measure(next, answering, outcomes, expected), true)
}

test('over Sentinel, what a failover to a replica that lags loses is what docs/guarantees.md says', async () => {
  const sentinels = await startSentinels()
  onTestFinished(() => sentinels.stop())
  const master = await sentinels.master()
  const over = await opened(sentinelConnections, sentinels)
  const run = unique()
  const runners = eachClient(sentinelConnections).map(([name]) => runner(name, run))
  const expected = await expectedStates(master, over[0]!.connection, run)
  await prepared(runners, over[0]!.connection)
  await caughtUp(master, run)

  const known = runners.map(({ client }) => runner(`${client} known`, run, replicatedRows))
  const unknown = runners.map(({ client }) => runner(`${client} unknown`, run, replicatedRows))
  const seconds = await opened(sentinelConnections, sentinels)
  const beside = (at: number, within: Duration) => openBeside(seconds[at]!.connection, within)
  const expectedThere = await expectedStates(
    master,
    over[0]!.connection,
    unique(),
    replicatedRows,
    beside(0, '30s'),
  )
  await prepared([...known, ...unknown], over[0]!.connection, beside(0, '30s'))
  const acknowledged = await apply(over, known, (at) => beside(at, '30s'))
  const acknowledgedBefore = await measure(master, known, acknowledged, expectedThere)

  await cutOff(master)
  const unacknowledged = await apply(over, unknown, (at) => beside(at, '50ms'))
  const unacknowledgedBefore = await measure(master, unknown, unacknowledged, expectedThere)
  const outcomes = await apply(over, runners)
  const answered = await measure(master, runners, outcomes, expected)
  const next = await sentinels.failover()
  const left = (await measure(next, runners, outcomes, expected)).map((found) =>
    // The lock that such a verb takes first is lost as well.
    found.row.verb.unapplied === undefined ? found : { ...found, times: 0 },
  )
  expectGuaranteed('Sentinel', [
    { fault: 'before the failover', open: 'nothing', measured: answered },
    { fault: 'after it', open: 'lost', measured: left },
  ])
  expectGuaranteed('acknowledged writes and a failover', [
    {
      fault: 'the replica had answered',
      open: 'nothing',
      measured: named(
        withLeft(acknowledgedBefore, await measure(next, known, acknowledged, expectedThere), false),
      ),
    },
    {
      fault: 'the replica had not',
      open: 'nothing',
      measured: named(
        withLeft(unacknowledgedBefore, await measure(next, unknown, unacknowledged, expectedThere), true),
      ),
    },
  ])
})
