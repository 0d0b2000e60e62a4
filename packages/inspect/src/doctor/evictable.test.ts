import { type Connection, sqlDate, text } from 'keyspec'
import { lock, sequence, watermark, workQueue } from 'keyspec/recipes'
import { startRedis } from 'keyspec/testing'
import { beforeAll, expect, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { doctor } from './doctor.ts'

// Every recipe that breaks a promise if one of its keys is lost, with a lifetime where it may have one.
const schema = {
  lock: lock('lock:<key>', { ttl: '10s', fence: 'fence:<key>' }),
  ids: sequence('id:<day>', { ttl: '2d' }),
  mark: watermark('mark:<day>', sqlDate, { ttl: '2d' }),
  jobs: workQueue('jobs', text, { lease: '30s' }),
}

let connection: Connection

beforeAll(async () => {
  const redis = await startRedis({ config: { maxmemory: '100mb', 'maxmemory-policy': 'allkeys-lru' } })
  ;({ connection } = await connected(redis))
})

test('no key whose loss breaks a promise may be evicted unless its entry says so', () => {
  const evictable = Object.values(schema).flatMap(({ keys }) => keys.filter((spec) => spec.evictable))
  expect(evictable.map(({ pattern }) => pattern.text)).toEqual([])
  const [spec] = sequence('id:<day>', { ttl: '2d', evictable: true }).keys
  expect(spec!.evictable).toBe(true)
})

test('the doctor names every such entry of a server that may evict them, and a policy that evicts none', async () => {
  const found = (await all(doctor(schema, connection))).filter(({ code }) => code === 'evicts-kept')
  expect(found).toMatchObject([
    {
      severity: 'error',
      entries: Object.keys(schema),
      remedies: [{ kind: 'configure', settings: [{ parameter: 'maxmemory-policy', value: 'noeviction' }] }],
    },
  ])
})
