import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { clusterConnections, type Opened } from '../../../../test-support/connections.ts'
import { type Cluster, startCluster } from '../../../../test-support/index.ts'
import { number } from '../codec/number.ts'
import { integer } from '../codec/integer.ts'
import { text } from '../codec/text.ts'
import { open } from '../keyspace.ts'
import { param } from '../param.ts'
import { eventually, unique } from '../testing/eventually.ts'
import { cache } from './cache/cache.ts'
import { quota } from './quota/quota.ts'
import { cappedList } from './capped-list/capped-list.ts'
import { dedupe } from './dedupe/dedupe.ts'
import { sequence } from './sequence/sequence.ts'
import { swapHash } from './swap/swap-hash.ts'
import { swapSet } from './swap/swap-set.ts'
import { watermark } from './watermark/watermark.ts'

const forever = { ttl: 'forever', reason: 'a test' } as const
const schema = {
  page: cache('page:<id>', text, { ttl: '1h' }),
  together: cache('together:{<id>}', text, { ttl: '1h' }),
  trending: swapSet('{trending}:current', integer, { staging: '{trending}:next', ...forever }),
  scored: swapHash('{scored}:current', integer, number, { staging: '{scored}:next', ...forever }),
  history: cappedList('history:<id>', text, { most: 2, ttl: '1h' }),
  shown: dedupe('shown:<id>', text, { ttl: '1h' }),
  id: sequence('id:<of>', forever),
  mark: watermark('mark:<of>', integer, forever),
}

let cluster: Cluster
beforeAll(async () => {
  cluster = await startCluster()
})
afterAll(() => cluster.stop())

describe.each(clusterConnections)('over a cluster with %s', (_name, connect) => {
  let opened: Opened
  beforeAll(async () => {
    opened = await connect(cluster)
  })
  afterAll(() => opened.close())

  let prefix: string
  let keys: ReturnType<typeof keyspace>
  const keyspace = (connection = opened.connection) => open(schema, connection, { prefix })
  beforeEach(() => {
    prefix = `${unique()}:`
    keys = keyspace()
  })
  const raw = async (...words: [string, string, ...string[]]) => {
    const node = await cluster.ownerOf(await cluster.slotOf(words[1]))
    return node.command(...words)
  }

  const lockOf = (name: string) =>
    name.includes('{') ? name.replace(':', ':lock:') : `${prefix}lock:{${name}}`

  test.each(['page', 'together'] as const)(
    'a load that is about to be kept does not bring back what another process deletes: %s',
    async (entry) => {
      const { connection } = opened
      const held = gate()
      const kept = gate()
      const slow = keyspace({
        ...connection,
        masters: () => connection.masters(),
        async send(command, shape) {
          const name = slow[entry]({ id: 1 }).name
          if (String(command[0]).startsWith('EVAL') && command[shape.firstKey] === name) {
            held.open()
            await kept.opened
          }
          return connection.send(command, shape)
        },
      })
      const other = await connect(cluster)
      try {
        const early = slow[entry]({ id: 1 }).getOrLoad(() => 'older')
        await held.opened
        const deleting = keyspace(other.connection)
        await deleting[entry]({ id: 1 }).delete()
        const late = slow[entry]({ id: 1 }).getOrLoad(() => 'newer')
        await eventually(() => expect(slow[entry].stats().waits).toBe(1))
        kept.open()
        expect(await early).toBe('older')
        expect(await late).toBe('newer')
        expect(await deleting[entry]({ id: 1 }).get()).toBe('newer')
      } finally {
        await other.close()
      }
    },
  )

  test.each(['page', 'together'] as const)(
    'a cache loads once and keeps it, lock and all: %s',
    async (entry) => {
      const cached = keys[entry]
      let loads = 0
      const ids = Array.from({ length: 20 }, (_, id) => ({ id }))
      const ask = () =>
        cached.many(ids).getOrLoad(async (missing) => {
          loads += missing.length
          return missing.map(({ id }) => `v${id}`)
        })
      const answers = await Promise.all([ask(), ask()])
      expect(answers[0]).toEqual(ids.map(({ id }) => `v${id}`))
      expect(answers[1]).toEqual(answers[0])
      expect(loads).toBe(20)
      expect(cached.stats()).toMatchObject({ loads: 20, unwritten: 0 })
      for (const { name } of cached.many(ids)) {
        expect(await raw('PTTL', name)).toBeGreaterThan(0)
        expect(await raw('EXISTS', lockOf(name))).toBe(0)
      }
      expect(await cached.many(ids).delete()).toBe(20)
    },
  )

  test('snapshots are replaced in the slot that both keys share', async () => {
    expect(await keys.trending().replace([1, 2])).toEqual({ replaced: true, size: 2 })
    expect(await keys.trending().members()).toEqual(new Set([1, 2]))
    await keys.scored().replace([[1, 0.5]])
    expect(await keys.scored().scores()).toEqual(new Map([[1, 0.5]]))
    expect(await raw('TYPE', keys.scored().name)).toBe('hash')
  })

  test('cappedList, dedupe, sequence and watermark do what they do elsewhere', async () => {
    await keys.history({ id: 1 }).add('a', 'b', 'c')
    expect(await keys.history({ id: 1 }).list()).toEqual(['c', 'b'])
    expect(await keys.shown({ id: 1 }).claim(['a', 'b', 'a'])).toEqual(['a', 'b'])
    expect(await keys.shown({ id: 1 }).claim(['b', 'c'])).toEqual(['c'])
    const ids = await Promise.all(Array.from({ length: 30 }, (_, n) => keys.id({ of: n % 3 }).next()))
    expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, n) => Math.floor(n / 3) + 1))
    expect(await keys.mark({ of: 1 }).advance(9)).toEqual({ advanced: true, value: 9 })
    expect(await keys.mark({ of: 1 }).advance(8)).toEqual({ advanced: false, value: 9 })
    expect(await raw('GET', keys.mark({ of: 1 }).name)).toBe('9')
  })

  test('a quota admits exactly its limit, and its counters, which share a slot, move together', async () => {
    let now = Date.UTC(2024, 8, 17, 14, 59)
    const counters = {
      limit: 10,
      mirror: ['{calls}:counter:<hour>'],
      ttl: '2h',
      params: { hour: param.hour },
    } as const
    const declared = { calls: quota('{calls}:limit:<hour>', counters) }
    const prefix = `${unique()}:`
    const calls = open(declared, opened.connection, { prefix, now: () => now }).calls()
    const taken = await Promise.all(Array.from({ length: 30 }, () => calls.take()))
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(10)
    const names = calls.namesAt(new Date(now))
    expect(names).toEqual([`${prefix}{calls}:limit:2024-09-17_14`, `${prefix}{calls}:counter:2024-09-17_14`])
    for (const name of names) {
      expect(await raw('GET', name)).toBe('10')
      expect(await raw('PTTL', name)).toBeGreaterThan(0)
    }
    now += 60_000
    expect(await calls.take(4)).toMatchObject({ allowed: true, remaining: 6, previousUsed: 10 })
  })
})

/** A promise, and what resolves it. */
function gate() {
  let open!: () => void
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}
