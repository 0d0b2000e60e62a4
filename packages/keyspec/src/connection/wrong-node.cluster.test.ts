import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Cluster, startCluster } from '../../../../test-support/index.ts'
import { connections } from '../../../../test-support/connections.ts'
import { text } from '../codec/text.ts'
import { open } from '../keyspace.ts'
import { string } from '../kind/string.ts'
import { fixedWindow } from '../recipe/fixed-window/fixed-window.ts'
import { cache } from '../recipe/cache/cache.ts'
import { lock } from '../recipe/lock/lock.ts'
import { unique } from '../testing/index.ts'
import { isUnavailable } from './server-error.ts'

const schema = {
  note: string('note:<id>', text, { ttl: '1m' }),
  rate: fixedWindow('rate:<id>', { per: '1m', limit: 2, unreachable: 'admit' }),
  share: fixedWindow('share:<id>', { per: '1m', limit: 2, unreachable: { share: 1 } }),
  job: lock('job:<id>', { ttl: '10s', unreachable: 'proceed' }),
  page: cache('page:<id>', text, { ttl: '1m' }),
}

let cluster: Cluster
beforeAll(async () => {
  cluster = await startCluster()
})
afterAll(() => cluster.stop())

// A client of one node knows the keys of that node only. Were that an outage, a limiter that admits in one would admit for ever.
describe.each(connections)('%s, not of a cluster, connected to a node of one', (_, connect) => {
  test('a key of another node is a mistake of the program, not an outage', async () => {
    const node = cluster.nodes[0]!
    const { connection, close } = await connect(node)
    try {
      const prefix = `${unique()}:`
      const keys = open(schema, connection, { prefix })
      const foreign = async (name: string) => {
        for (let id = 0; ; id += 1)
          if ((await cluster.ownerOf(await cluster.slotOf(`${prefix}${name}:${id}`))) !== node) return { id }
      }
      const worked: string[] = []
      const page = await foreign('page')
      const asked: readonly [string, () => Promise<unknown>][] = [
        ['get', async () => keys.note(await foreign('note')).get()],
        ['set', async () => keys.note(await foreign('note')).set('x')],
        ['take', async () => keys.rate(await foreign('rate')).take()],
        ['peek', async () => keys.rate(await foreign('rate')).peek()],
        ['take of a share', async () => keys.share(await foreign('share')).take()],
        ['acquire', async () => keys.job(await foreign('job')).acquire()],
        ['using', async () => keys.job(await foreign('job')).using(() => worked.push('using'))],
        ['invalidate', () => keys.page(page).delete()],
      ]
      for (const [verb, ask] of asked) {
        const error = await ask().then(
          (value) => value,
          (error: unknown) => error,
        )
        expect.soft(error, verb).toMatchObject({
          code: 'E_WRONG_NODE',
          message: expect.stringContaining('use a client for clusters and its adapter'),
        })
        expect.soft(isUnavailable(error), verb).toBe(false)
      }
      expect(worked).toEqual([])
    } finally {
      await close()
    }
  })
})
