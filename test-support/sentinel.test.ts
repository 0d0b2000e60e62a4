import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../packages/keyspec/src/testing/index.ts'
import { startSentinels, type Sentinels } from './sentinel.ts'

let set: Sentinels
beforeAll(async () => {
  set = await startSentinels()
})
afterAll(() => set.stop())

test('three Sentinels name the first server as the master, and what it holds reaches the replica', async () => {
  expect(set.sentinels).toHaveLength(3)
  expect(await set.master()).toBe(set.servers[0])
  await set.servers[0]?.command('SET', 'a', '1')
  await eventually(async () => expect(await set.servers[1]?.command('GET', 'a')).toBe('1'))
  await expect(set.servers[1]?.command('SET', 'a', '2')).rejects.toThrow('READONLY')
})

test('when the master is killed the replica takes its place, and when that one is killed, the other again', async () => {
  for (const value of [2, 4]) {
    const old = await set.master()
    const replica = set.servers.find((server) => server !== old)!
    await old.command('SET', 'b', value - 1)
    await old.command('WAIT', 1, 5000)
    await expect(replica.command('SET', 'b', 'x')).rejects.toThrow('READONLY')
    expect(await set.failover()).toBe(replica)
    expect(old.pid).toBeUndefined()
    expect(await set.master()).toBe(replica)
    expect(await replica.command('INCR', 'b')).toBe(value)
    await set.recover()
    expect(await old.command('GET', 'b')).toBe(String(value))
  }
})
