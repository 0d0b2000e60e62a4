import { expect, test } from 'vitest'
import { keyspec } from '../../../../test-support/command-line.ts'
import { startCluster } from '../../../../test-support/index.ts'

test('every master of a cluster is looked at, and slots that nobody has are missed', async () => {
  await using cluster = await startCluster()
  const doctor = async (...words: string[]) => {
    const { code, json } = await keyspec(['doctor', '--json', '--url', cluster.urls[0]!, ...words])
    return { code, found: json() as { code: string; node?: string; message: string; commands?: string[] }[] }
  }
  const { code, found } = await doctor('--cluster')
  expect(code).toBe(0)
  const nodes = found.filter((each) => each.code === 'maxmemory').map(({ node }) => node)
  expect(nodes.toSorted()).toEqual(cluster.urls.map((url) => new URL(url).host).toSorted())

  // Each master has lines of its own.
  for (const { node, commands } of found.filter((each) => each.code === 'maxmemory'))
    expect(commands).toEqual([
      expect.stringMatching(`^redis-cli -h 127.0.0.1 -p ${node!.split(':')[1]} CONFIG SET maxmemory `),
    ])

  const alone = await doctor()
  expect(alone.code).toBe(1)
  expect(alone.found.find((each) => each.code === 'cluster-mode')?.commands).toEqual([
    `keyspec doctor --url ${cluster.urls[0]!} --cluster`,
  ])

  const owner = await cluster.ownerOf(7)
  await owner.command('CLUSTER', 'DELSLOTS', '7')
  const missing = await doctor('--cluster')
  expect(missing.code).toBe(1)
  expect(missing.found.filter((each) => each.code === 'cluster-slots')[0]?.message).toContain(
    '1 of 16384 slots',
  )
})
