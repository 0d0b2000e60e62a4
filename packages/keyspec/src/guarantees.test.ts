import { createClient } from 'redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Opened } from '../../../test-support/connections.ts'
import { type DefaultClient, defaultClients } from '../../../test-support/default-clients.ts'
import { expectGuaranteed } from '../../../test-support/guarantees.ts'
import { type Proxy, startProxy } from '../../../test-support/index.ts'
import {
  batches,
  type Ended,
  type Expected,
  expectedStates,
  type Fault,
  faults,
  isAlone,
  type Measured,
  prepared,
  type Row,
  rows,
  runAlone,
  runTogether,
  runner,
  timesApplied,
} from '../../../test-support/measured.ts'
import { methodsOf, openVerbs, verbTables } from '../../../test-support/verbs.ts'
import { fromNodeRedis } from './connection/client/node-redis.ts'
import { startRedis, type TemporaryRedis, unique } from './testing/index.ts'

let redis: TemporaryRedis
let steady: ReturnType<typeof createClient>
let expected: ReadonlyMap<Row, Expected>
beforeAll(async () => {
  redis = await startRedis({ port: 'any' })
  steady = createClient({ socket: { path: redis.socket, tls: false } })
  await steady.connect()
  expected = await expectedStates(redis, fromNodeRedis(steady), unique())
})
afterAll(async () => {
  steady.destroy()
  await redis.stop()
})

test.each(verbTables)('the table of verbs has every verb of $name', (table) => {
  const keys = openVerbs(fromNodeRedis(steady), `${unique()}/`)
  const named = Object.keys(table.verbs).filter((verb) => !verb.includes(' '))
  expect(methodsOf(table, keys).toSorted()).toEqual(named.toSorted())
})

/** Every verb over every client, under one fault. */
async function measured(fault: Fault): Promise<Measured[]> {
  const run = unique()
  const runners = defaultClients.map(([client]) => runner(client, run))
  await prepared(runners, fromNodeRedis(steady))
  const outcomes: Map<Row, Ended>[] = []
  for (const [at, [, open]] of defaultClients.entries()) {
    const over = runners[at]!
    const [some, ...others] = await Promise.all([
      Promise.all(
        batches.map((batch) =>
          behindProxy(open, fault, (opened, proxy) => runTogether(batch, opened, proxy, over, fault)),
        ),
      ),
      ...rows
        .filter(isAlone)
        .map((row) =>
          behindProxy(
            open,
            fault,
            async (opened, proxy) => [row, await runAlone(row, opened, proxy, over, fault)] as const,
          ),
        ),
    ])
    outcomes.push(new Map([...some.flatMap((batch) => [...batch]), ...others]))
  }
  const times = await timesApplied(redis, runners, expected)
  return runners.flatMap((each, at) =>
    rows.map((row) => ({ row, client: each.client, times: times(each, row), ...outcomes[at]!.get(row)! })),
  )
}

async function behindProxy<T>(
  open: DefaultClient[1],
  fault: Fault | undefined,
  act: (opened: Opened, proxy: Proxy) => Promise<T>,
): Promise<T> {
  const proxy = await startProxy(redis)
  const late = fault?.ends === 'late' ? ({ timeout: '250ms' } as const) : {}
  const opened = await open(proxy, { requestTimeout: 5_000, ...late })
  try {
    return await act(opened, proxy)
  } finally {
    await opened.close()
    await proxy.stop()
  }
}

test.each(defaultClients)(
  'without a fault every verb answers over %s, and is applied once',
  async (client, open) => {
    const over = runner(client, unique())
    await prepared([over], fromNodeRedis(steady))
    const outcomes = await behindProxy(open, undefined, async (opened, proxy) => {
      const ended = await Promise.all(batches.map((batch) => runTogether(batch, opened, proxy, over)))
      return ended.flatMap((batch) => [...batch])
    })
    const times = await timesApplied(redis, [over], expected)
    const wrong = outcomes.filter(
      ([row, { answers }]) => answers !== 'answers' || (times(over, row) ?? 1) !== 1,
    )
    expect(wrong.map(([row, end]) => [row.table, row.name, end, times(over, row)])).toEqual([])
  },
)

test('what every verb does over every client, and answers, is what docs/guarantees.md says', async () => {
  expectGuaranteed('a single server', [
    { fault: 'request lost', open: 'steps', measured: await measured(faults['request lost']) },
    { fault: 'reply lost', open: 'steps', measured: await measured(faults['reply lost']) },
    { fault: 'timed out', open: 'times', measured: await measured(faults['timed out']) },
  ])
}, 120_000)
