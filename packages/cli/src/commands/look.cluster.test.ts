import { createCluster } from 'redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Cluster, startCluster } from '../../../../test-support/cluster.ts'
import { keyspec as run } from '../../../../test-support/command-line.ts'

const KEYS = 600

let cluster: Cluster

beforeAll(async () => {
  cluster = await startCluster()
  const client = createCluster({ rootNodes: cluster.urls.map((url) => ({ url })) })
  await client.connect()
  const set = (key: string, value: string) =>
    client.sendCommand(key, false, ['SET', key, value, 'EX', '3000'])
  await Promise.all(
    Array.from({ length: KEYS }, (_, at) => set(`shop:session:${at}`, '{"user":"ann","cart":[]}')),
  )
  // All of these are in the slot that will be on the move.
  for (let at = 0; at < 20; at += 1)
    await set(`shop:session:{moving}${at}`, at % 2 === 0 ? 'x' : '{"user":"ann","cart":[]}')
  await set('shop:stray:{moving}', 'x')
  client.destroy()
})

afterAll(() => cluster.stop())

const keyspec = (...words: string[]) =>
  run([...words, '--cluster', '--max-load', '1', '--json'], { env: { REDIS_URL: cluster.urls[0]! } })

test('every key of a cluster is looked at once, while a slot is between two masters', async () => {
  const slot = await cluster.slotOf('{moving}')
  const from = await cluster.ownerOf(slot)
  const to = cluster.nodes.find((node) => node !== from)!
  const whole = await looked()
  const move = await cluster.beginMove(slot, to)
  expect(await looked()).toEqual(whole)
  await move.moveKeys(Array.from({ length: 10 }, (_, at) => `shop:session:{moving}${at}`))
  expect(await looked()).toEqual(whole)
  await move.finish()
  expect(await looked()).toEqual(whole)
  expect(whole).toEqual({
    faults: { 'undecodable shop:session:<userId>': 10, 'unknown-key shop:stray:{moving}': 1 },
    decoded: KEYS + 20,
    keys: KEYS + 21,
    groups: { session: KEYS + 20, none: 1 },
    slot,
  })
})

test('a sample is drawn from each master, and what it says of all of them holds', async () => {
  const [found] = (await keyspec('stats', '--sample', '300')).json()
  expect(found).toMatchObject({ exact: false, of: KEYS + 21 })
  const { keys } = found.groups.find(({ name }: { name?: string }) => name === 'session')
  expect(keys.low).toBeLessThanOrEqual(KEYS + 20)
  expect(keys.high).toBeGreaterThan(KEYS - 20)
})

async function looked() {
  const audited = await keyspec('audit')
  expect([audited.code, audited.err]).toEqual([1, ''])
  const lines = audited.json()
  const { keys, decoded } = lines.at(-1)
  const [{ all, groups }] = (await keyspec('stats', '--exact')).json()
  expect(all.keys.value).toBe(keys)
  const explained = (await keyspec('explain', 'shop:session:{moving}1')).json()[0]
  expect(explained).toMatchObject({ exists: true, value: { parts: [{ failed: false }] }, faults: [] })
  return {
    faults: Object.fromEntries(
      lines.slice(0, -1).map(({ code, pattern, count }) => [`${code} ${pattern}`, count]),
    ),
    decoded,
    keys,
    groups: Object.fromEntries(groups.map(({ name, keys: some }: any) => [name ?? 'none', some.value])),
    slot: explained.slot,
  }
}

test.each([
  'audit',
  'stats',
  'cleanup',
  'migrate plan',
  'erase --entry session --yes',
  'export --out /dev/null',
  'copy --to redis://127.0.0.1:1 --yes',
  'diff redis://127.0.0.1:1',
])('keyspec %s of one node is refused, since it would leave out the keys of all others', async (words) => {
  const { code, err, out } = await run(words.split(' '), { env: { REDIS_URL: cluster.urls[0]! } })
  expect([code, out]).toEqual([2, ''])
  expect(err).toBe(
    'keyspec: the server is a node of a cluster, and the keys of all other nodes would be left out: give --cluster\n',
  )
})

test('the other server of a copy or a comparison is refused likewise', async () => {
  const to = cluster.urls[1]!
  for (const [verb, flag] of [
    ['copy --to', '--to-cluster'],
    ['diff', '--other-cluster'],
  ] as const) {
    const { code, err } = await run([...verb.split(' '), to, '--cluster'], {
      env: { REDIS_URL: cluster.urls[0]! },
    })
    expect([code, err]).toEqual([2, expect.stringContaining(`would be left out: give ${flag}`)])
  }
})
