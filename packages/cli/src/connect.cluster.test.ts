import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from 'keyspec/testing'
import { openServer, openServerBriefly } from './connect.ts'

const NO_KEY = { firstKey: 0, keyCount: 0 } as const
const OWN = 'default-é'
const ANNS = 'p:w@d/é%'
const ann = `ann:${encodeURIComponent(ANNS)}`

async function started(options: Parameters<typeof startRedis>[0]): Promise<TemporaryRedis> {
  const redis = await startRedis(options)
  onTestFinished(() => redis.stop())
  return redis
}

async function withAnn(redis: TemporaryRedis): Promise<void> {
  await redis.command('ACL', 'SETUSER', 'ann', 'on', `>${ANNS}`, '+@all', '~*', '&*')
}

test.each([openServer, openServerBriefly])(
  'every node of a cluster is asked as the user of the URL',
  async (open) => {
    const node = await started({ port: 'any', config: { requirepass: OWN, 'cluster-enabled': 'yes' } })
    await withAnn(node)
    await node.command('CLUSTER', 'ADDSLOTS', ...Array.from({ length: 16_384 }, (_, slot) => slot))
    await eventually(async () =>
      expect(String(await node.command('CLUSTER', 'INFO'))).toContain('cluster_state:ok'),
    )
    const server = await open({ url: `redis://${ann}@127.0.0.1:${node.port}`, cluster: true })
    const masters = await server.connection.masters()
    expect(masters).toHaveLength(1)
    expect(await masters[0]!.send(['ACL', 'WHOAMI'], NO_KEY)).toBe('ann')
    await server.close()
    await expect(
      open({ url: `redis://ann:wrong@127.0.0.1:${node.port}`, cluster: true }),
    ).rejects.toMatchObject({ exitCode: 3 })
  },
)

test.each([openServer, openServerBriefly])(
  'behind a Sentinel the master is asked as the user of the URL, in its database; the Sentinel by its own password',
  async (open) => {
    const master = await started({ port: 'any', config: { requirepass: OWN } })
    await withAnn(master)
    const sentinelWith = (config: Record<string, string>) =>
      started({
        port: 'any',
        arguments: ['--sentinel'],
        config: {
          'sentinel monitor': `mymaster 127.0.0.1 ${master.port} 1`,
          'sentinel auth-pass': `mymaster ${OWN}`,
          ...config,
        },
      })
    const [open1, closed] = [await sentinelWith({}), await sentinelWith({ requirepass: 'sentinels' })]
    for (const [sentinel, port] of [
      ['mymaster', open1.port],
      [{ name: 'mymaster' }, open1.port],
      [{ name: 'mymaster', password: 'sentinels' }, closed.port],
    ] as const) {
      const server = await open({ url: `redis://${ann}@127.0.0.1:${port}/3`, sentinel })
      expect(await server.connection.send(['ACL', 'WHOAMI'], NO_KEY)).toBe('ann')
      expect(String(await server.connection.send(['CLIENT', 'INFO'], NO_KEY))).toContain(' db=3 ')
      await server.close()
    }
  },
)
