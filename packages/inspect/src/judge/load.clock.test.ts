import { type Connection, json, string, text } from 'keyspec'
import { startRedis } from 'keyspec/testing'
import * as v from 'valibot'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { audit } from './audit.ts'
import { cleanupKeys } from '../change/cleanup.ts'
import { copyKeys, previewCopy } from '../transfer/copy.ts'
import { diffArchive, diffServers } from '../transfer/diff.ts'
import { erase, previewErase } from '../change/erase.ts'
import { exportKeys } from '../transfer/export.ts'
import { importKeys, previewImport } from '../transfer/import.ts'
import { planMigration, rollBackMigration, runMigration, verifyMigration } from '../change/migrate.ts'
import { selectKeys } from '../scan/selection.ts'
import { stats } from '../measure/stats.ts'

// Time stands still but for what a command takes, which is always the same, and for the rests.
const clock = vi.hoisted(() => ({ now: 0, busy: 0 }))
vi.mock('../../../keyspec/src/timer.ts', async (original) => ({
  ...(await original<object>()),
  sleep: async (ms: number) => void (clock.now += ms),
}))
const COMMAND_MS = 0.3

const { redis, connection } = await connected()
const { redis: otherRedis, connection: otherConnection } = await connected(await startRedis())

function timed(over: Connection): Connection {
  const send: Connection['send'] = async (command, shape) => {
    const reply = await over.send(command, shape)
    clock.now += COMMAND_MS
    clock.busy += COMMAND_MS
    return reply
  }
  const it: Connection = { ...over, send, masters: async () => [it] }
  return it
}

const here = timed(connection)
const there = timed(otherConnection)
const KEYS = 600

const schema = {
  session: string('session:<id>', json(v.string()), {
    ttl: '1h',
    renamedFrom: { pattern: 'sess:<id>', phase: 2 },
  }),
  page: string('page:<id>', text, { ttl: '1h' }),
}

beforeEach(async () => {
  await Promise.all([redis.command('FLUSHALL'), otherRedis.command('FLUSHALL')])
  const lines = `for at = 1, ${KEYS} do
    redis.call('SET', 'session:' .. at, '"x"')
    redis.call('SET', 'page:' .. at, 'x')
    redis.call('SET', 'sess:' .. at, '"old"')
    if at % 2 == 0 then redis.call('SET', 'sess:other' .. at, '"old"', 'EX', '60') end
  end`
  await redis.command('EVAL', lines, '0')
  const now = vi.spyOn(performance, 'now').mockImplementation(() => clock.now)
  onTestFinished(() => now.mockRestore())
})

const chosen = selectKeys(schema, {})
const asExport = async () => {
  const how = { schema, keyspec: '0', maxLoad: 1 }
  return (await all(exportKeys(connection, chosen, how))).map(({ bytes }) => Buffer.from(bytes))
}
const sourceOf = (bytes: readonly Buffer[]) =>
  async function* () {
    yield* bytes
  }
type Load = { readonly maxLoad: number }

/** Every tool that goes over many keys. */
const tools: Readonly<Record<string, (load: Load) => Promise<unknown>>> = {
  audit: (load) => all(audit(schema, here, load)),
  'stats of all': (load) => stats(schema, here, { ...load, exact: true }),
  'stats of a sample': (load) => stats(schema, here, { ...load, sample: 1000 }),
  previewErase: (load) => all(previewErase(schema, here, load)),
  erase: (load) => all(erase(schema, here, load)),
  cleanupKeys: (load) => all(cleanupKeys(schema, here, { ...load, repair: true })),
  planMigration: (load) => all(planMigration(schema, here, load)),
  runMigration: (load) => all(runMigration(schema, here, load)),
  rollBackMigration: (load) => all(rollBackMigration(schema, here, load)),
  verifyMigration: (load) => all(verifyMigration(schema, here, load)),
  exportKeys: (load) => all(exportKeys(here, chosen, { schema, keyspec: '0', ...load })),
  previewCopy: (load) => all(previewCopy(here, there, chosen, load)),
  copyKeys: (load) => all(copyKeys(here, there, chosen, load)),
  diffServers: (load) => all(diffServers(here, there, chosen, load)),
}

/** How long a tool took in all, for each moment in which it kept a server busy. */
async function slowness(tool: (load: Load) => Promise<unknown>, maxLoad: number): Promise<number> {
  clock.busy = 0
  const from = clock.now
  await tool({ maxLoad })
  // Short rests are saved up, and the last of them are not taken.
  expect(clock.busy).toBeGreaterThan(2)
  return (clock.now - from) / clock.busy
}

test.each(Object.entries(tools))('%s takes the part of the time that it may', async (_, tool) => {
  const twentieth = await slowness(tool, 0.05)
  // The first and the last questions are not worth a rest.
  expect(twentieth).toBeGreaterThan(16)
  expect(twentieth).toBeLessThan(20.5)
})

test('an import does too, and the look at what it would do', async () => {
  const source = sourceOf(await asExport())
  const preview = (load: Load) => all(previewImport(there, source, load))
  const write = (load: Load) => all(importKeys(there, source, load))
  for (const tool of [preview, write]) expect(await slowness(tool, 0.05)).toBeGreaterThan(16)
})

test('so does the comparison with an export', async () => {
  const bytes = await asExport()
  const tool = (load: Load) => all(diffArchive(here, sourceOf(bytes), KEYS * 3.5, chosen, load))
  expect(await slowness(tool, 0.05)).toBeGreaterThan(16)
})

test('whoever may take all of the time takes no rest', async () => {
  expect(await slowness((load) => all(audit(schema, here, load)), 1)).toBeCloseTo(1)
})
