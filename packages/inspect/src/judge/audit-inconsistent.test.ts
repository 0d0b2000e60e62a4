import { type Connection, json, mount, open, text } from 'keyspec'
import { workQueue } from 'keyspec/recipes'
import { type TemporaryRedis, unique } from 'keyspec/testing'
import * as v from 'valibot'
import { beforeAll, expect, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { audit } from './audit.ts'

let redis: TemporaryRedis
let connection: Connection

beforeAll(async () => {
  ;({ redis, connection } = await connected())
})

const declared = workQueue('q', text, { lease: '10s' })

const audited = async (prefix: string) => {
  const schema = { mounted: mount('m:', { declared, tallied }) }
  const steps = await all(audit(schema, connection, { prefix, maxLoad: 1 }))
  return steps.flatMap(({ findings }) => findings)
}
const tallied = workQueue('t:<name>:<part>', json(v.object({ id: v.number(), kind: v.literal('a') })), {
  lease: '10s',
  id: 'id',
  keys: { deadlines: 'leases:<part>:<name>' },
  counters: { by: 'kind', waiting: { a: 't-waiting:<name>:<part>' } },
})

test('finds jobs without leases, leases without jobs, and counters that drifted; repair fixes all', async () => {
  const prefix = `${unique()}:`
  const keys = open({ mounted: mount('m:', { declared, tallied }) }, connection, { prefix })
  const queue = keys.mounted.tallied({ name: 'x', part: 'y' })
  await queue.add([{ kind: 'a' }, { kind: 'a' }, { kind: 'a' }])
  await queue.take('w', 2)
  await keys.mounted.declared().add(['job'])
  await keys.mounted.declared().take('w')
  expect(await audited(prefix)).toEqual([])

  await redis.command('DEL', queue.names.deadlines)
  await redis.command('INCRBY', queue.names.counters[0]!, 5)
  await redis.command('DEL', keys.mounted.declared().names.inProgress)
  const found = await audited(prefix)
  expect(found.map(({ code, entry, detail, count }) => [code, entry, detail, count]).toSorted()).toEqual(
    [
      ['inconsistent', 'mounted.declared', 'holders have no job in progress', 1],
      ['inconsistent', 'mounted.declared', 'leases have no job in progress', 1],
      ['inconsistent', 'mounted.tallied', 'jobs in progress have no lease', 1],
      ['inconsistent', 'mounted.tallied', 'the counters of waiting jobs count more than wait', 1],
    ].toSorted(),
  )
  expect(found.map(({ remedy }) => remedy)).toContainEqual({ kind: 'repair', entry: 'mounted.tallied' })
  await queue.repair()
  await keys.mounted.declared().repair()
  expect(await audited(prefix)).toEqual([])
})
