import { createClient } from 'redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Opened } from '../../../test-support/connections.ts'
import { type DefaultClient, defaultClients } from '../../../test-support/default-clients.ts'
import { expectGuaranteed, type Open } from '../../../test-support/guarantees.ts'
import { type Proxy, startProxy } from '../../../test-support/index.ts'
import {
  type Ended,
  ended,
  type Expected,
  expectedStates,
  type Fault,
  faults,
  isAlone,
  type Measured,
  prepared,
  type Row,
  rowsOf,
  runAlone,
  runTogether,
  runner,
  timesApplied,
} from '../../../test-support/measured.ts'
import { openBeside, replicatedTables } from '../../../test-support/replicated-verbs.ts'
import { methodsOf, type openVerbs } from '../../../test-support/verbs.ts'
import type { Connection } from './connection/connection.ts'
import { fromNodeRedis } from './connection/client/node-redis.ts'
import type { Duration } from './duration.ts'
import { eventually, startRedis, type TemporaryRedis, unique } from './testing/index.ts'

const rows = rowsOf(replicatedTables)
const together = rows.filter((row) => !isAlone(row))
/** More than a busy machine needs for an acknowledgement. */
const AMPLE: Duration = '30s'
const BRIEF: Duration = '50ms'

let primary: TemporaryRedis
let replica: TemporaryRedis
const clients: { destroy(): void }[] = []
let steady: Connection
let openSteady: (connection: Connection, prefix: string) => ReturnType<typeof openVerbs>
let expected: ReadonlyMap<Row, Expected>

async function connect(): Promise<Connection> {
  const client = createClient({ socket: { path: primary.socket, tls: false } })
  await client.connect()
  clients.push(client)
  return fromNodeRedis(client)
}

beforeAll(async () => {
  const config = { 'repl-diskless-sync-delay': '0' }
  primary = await startRedis({ port: 'any', config })
  replica = await startRedis({ port: 'any', config })
  await replica.command('REPLICAOF', '127.0.0.1', `${primary.port}`)
  await eventually(
    async () => {
      await primary.command('SET', 'probe', 'x')
      expect(await primary.command('WAIT', '1', '100')).toBe(1)
    },
    { within: '20s' },
  )
  steady = await connect()
  const second = await connect()
  openSteady = openBeside(second, AMPLE)
  expected = await expectedStates(primary, steady, unique(), rows, openSteady)
})
afterAll(async () => {
  for (const client of clients) client.destroy()
  await Promise.all([primary.stop(), replica.stop()])
})

test.each(replicatedTables.filter(({ name }) => name !== 'queue'))(
  'the table of verbs that a replica acknowledges has every verb of $name',
  (table) => {
    const named = Object.keys(table.verbs).filter((verb) => !verb.includes(' '))
    expect(methodsOf(table, openSteady(steady, `${unique()}/`)).toSorted()).toEqual(named.toSorted())
  },
)

/** Runs every verb over one client: those that begin the fault themselves each over connections of their own. */
async function runAll(
  open: DefaultClient[1],
  timeout: Duration | undefined,
  run: (
    some: readonly Row[],
    opened: Opened,
    second: Opened,
    proxy: Proxy,
  ) => Promise<ReadonlyMap<Row, Ended>>,
): Promise<ReadonlyMap<Row, Ended>> {
  const groups = [together, ...rows.filter(isAlone).map((row) => [row])]
  const ends = await Promise.all(
    groups.map(async (some) => {
      const proxy = await startProxy(primary)
      const options = { requestTimeout: 5_000, ...(timeout === undefined ? {} : { timeout }) }
      const [opened, second] = await Promise.all([open(proxy, options), open(proxy, options)])
      try {
        return await run(some, opened, second, proxy)
      } finally {
        await opened.close()
        await second.close()
        await proxy.stop()
      }
    }),
  )
  return new Map(ends.flatMap((each) => [...each]))
}

/** Every verb over every client, once all states are prepared and `begin` was called. */
async function measured(
  runOver: (open: DefaultClient[1], over: ReturnType<typeof runner>) => Promise<ReadonlyMap<Row, Ended>>,
  begin: () => void = () => {},
): Promise<Measured[]> {
  const run = unique()
  const runners = defaultClients.map(([client]) => runner(client, run, rows))
  await prepared(runners, steady, openSteady)
  begin()
  const outcomes = await Promise.all(defaultClients.map(([, open], at) => runOver(open, runners[at]!)))
  const times = await timesApplied(primary, runners, expected)
  return runners.flatMap((each, at) =>
    rows.map((row) => ({ row, client: each.client, times: times(each, row), ...outcomes[at]!.get(row)! })),
  )
}

/** Without a fault of the connection: the replica answers in time, or not. */
const calm = (within: Duration, begin?: () => void) =>
  measured(
    (open, over) =>
      runAll(open, undefined, (some, opened, second, proxy) =>
        runTogether(some, opened, proxy, over, undefined, openBeside(second.connection, within)),
      ),
    begin,
  )

const broken = (fault: Fault) =>
  measured((open, over) =>
    runAll(open, fault.ends === 'late' ? '250ms' : undefined, async (some, opened, second, proxy) => {
      const openKeys = openBeside(second.connection, AMPLE)
      const [row] = some
      return some.length === 1
        ? new Map([[row!, await runAlone(row!, opened, proxy, over, fault, openKeys, second.connection)]])
        : runTogether(some, opened, proxy, over, fault, openKeys, second.connection)
    }),
  )

/** The connection breaks when every verb has written, and waits for the replica. */
const brokenInWait = () =>
  measured((open, over) =>
    runAll(open, undefined, async (some, opened, second, proxy) => {
      const waiting = new Map(some.map((row) => [row, deferred()]))
      const gate = deferred()
      const calls = some.map((row) => {
        let begun = !isAlone(row)
        const held: Connection = {
          ...second.connection,
          masters: () => second.connection.masters(),
          async send(command, shape) {
            if (command[0] !== 'WAIT' || !begun) return second.connection.send(command, shape)
            waiting.get(row)!.resolve()
            await gate.promise
            return second.connection.send(command, shape)
          },
        }
        const keys = openBeside(held, AMPLE)(opened.connection, over.prefixOf(row))
        const call = row.verb.act(keys, () => (begun = true))
        void call.finally(() => waiting.get(row)!.resolve()).catch(() => {}) // not every verb waits
        return ended(row, call)
      })
      await Promise.all([...waiting.values()].map(({ promise }) => promise))
      proxy.stall('replies')
      gate.resolve()
      await new Promise(setImmediate)
      proxy.cut()
      await proxy.restore()
      return new Map(await Promise.all(some.map(async (row, at) => [row, await calls[at]!] as const)))
    }),
  )

test('what verbs answer whose writes a replica acknowledges is what docs/guarantees.md says', async () => {
  const columns: { fault: string; open: Open; measured: Measured[] }[] = []
  const add = (fault: string, open: Open, found: Measured[]) => columns.push({ fault, open, measured: found })
  add('replica answers', 'nothing', await calm(AMPLE))
  try {
    add('replica silent', 'nothing', await calm(BRIEF, () => replica.pause()))
  } finally {
    replica.resume()
  }
  add('cut while waiting', 'nothing', await brokenInWait())
  add('request lost', 'steps', await broken(faults['request lost']))
  add('reply lost', 'steps', await broken(faults['reply lost']))
  add('timed out', 'times', await broken(faults['timed out']))
  expectGuaranteed('acknowledged writes', columns)
}, 120_000)

function deferred() {
  let resolve!: () => void
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}
