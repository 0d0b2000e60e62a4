import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCluster } from 'redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyspec } from '../../../../test-support/command-line.ts'
import { startRedis } from 'keyspec/testing'
import { type Cluster, startCluster } from '../../../../test-support/index.ts'
import { expiresAt } from '../../../../test-support/expires-at.ts'

let cluster: Cluster
let client: ReturnType<typeof createCluster>
const folder = mkdtempSync(join(tmpdir(), 'keyspec-cluster-'))
const file = join(folder, 'shop.keyspec')
const run = (...words: string[]) =>
  keyspec([...words, '--cluster', '--max-load', '1'], { env: { REDIS_URL: cluster.urls[0]! } })
const send = (key: string | Buffer, ...words: (string | Buffer)[]) =>
  client.sendCommand(key, false, [words[0]!, key, ...words.slice(1)])

/** When a key expires, in ms since the epoch. */
const endOf = (key: string) =>
  expiresAt({ command: (...words) => client.sendCommand(key, false, words.map(String)) as never }, key)

beforeAll(async () => {
  cluster = await startCluster()
  client = createCluster({ rootNodes: [{ url: cluster.urls[0]! }] })
  await client.connect()
})
afterAll(async () => {
  client?.destroy()
  await cluster?.stop()
  rmSync(folder, { recursive: true })
})

const names = Array.from({ length: 100 }, (_, index) => `shop:session:${index}`)
const binary = Buffer.concat([Buffer.from('shop:'), Buffer.from([0xff, 0, 10])])

async function count(): Promise<number> {
  const sizes = await Promise.all((await cluster.masters()).map((node) => node.command('DBSIZE')))
  return sizes.reduce<number>((sum, size) => sum + Number(size), 0)
}

test('a cluster is exported, emptied, filled again, and is what it was; while a slot is on its way, too', async () => {
  const soon = String(Date.now() + 3_600_000)
  for (const name of names) await send(name, 'SET', name, 'PXAT', soon)
  await send(binary, 'SET', 'x')
  await send('shop:large', 'SETRANGE', String(2 * 1024 * 1024), 'the end')
  await send('shop:hash', 'HSET', 'a', 'b')
  await send('shop:stream', 'XADD', '1-1', 'a', 'b')
  const tagged = Array.from({ length: 20 }, (_, index) => `shop:session:{tag}${index}`)
  for (const name of tagged) await send(name, 'SET', name)
  const all = names.length + tagged.length + 4

  const slot = await cluster.slotOf('{tag}')
  const owner = await cluster.ownerOf(slot)
  const to = cluster.nodes.find((node) => node !== owner)!
  const move = await cluster.beginMove(slot, to)
  await move.moveKeys(tagged.slice(0, 10))
  const exported = await run('export', '--out', file, '--json')
  expect(exported.code, exported.err).toBe(0)
  expect(JSON.parse(exported.out)).toMatchObject({ keys: all, gone: 0 })
  const during = await run('diff', file)
  expect(during.out).toBe(`${all} keys compared, all alike\n`)
  await move.finish()

  for (const node of await cluster.masters()) await node.command('FLUSHALL')
  expect(await run('diff', file)).toMatchObject({
    code: 1,
    out: expect.stringContaining(`${all} only there`),
  })
  const imported = await run('import', file, '--yes')
  expect(imported.out, imported.err).toBe(`${all} keys written\n`)
  expect(await count()).toBe(all)
  expect(await endOf(names[99]!)).toBe(Number(soon))
  expect(await send(binary, 'GET')).toBe('x')
  expect(await send('shop:large', 'STRLEN')).toBe(2 * 1024 * 1024 + 7)

  expect(await run('diff', file)).toMatchObject({ code: 0 })
  expect(await run('diff', cluster.urls[1]!, '--other-cluster')).toMatchObject({ code: 0 })
  expect(await run('import', file, '--yes')).toMatchObject({ code: 1 })

  const alone = await startRedis()
  try {
    const copied = await run('copy', '--to', alone.url, '--yes')
    expect(copied.out, copied.err).toMatch(new RegExp(`^${all} keys copied`))
    expect(await expiresAt(alone, names[99]!)).toBe(Number(soon))
    for (const node of await cluster.masters()) await node.command('FLUSHALL')
    const back = ['copy', '--url', alone.url, '--to', cluster.urls[0]!, '--to-cluster', '--max-load', '1']
    const returned = await keyspec([...back, '--yes'])
    expect(returned.out, returned.err).toMatch(new RegExp(`^${all} keys copied`))
    expect(await count()).toBe(all)
    expect(await endOf(names[99]!)).toBe(Number(soon))
    expect(await send(binary, 'GET')).toBe('x')
  } finally {
    await alone.stop()
  }
})
