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

test('when the master is killed the replica takes its place, and when that one is killed, the first again', async () => {
  const [first, second] = set.servers
  await first?.command('SET', 'b', '1')
  await first?.command('WAIT', 1, 5000)
  expect(await set.failover()).toBe(second)
  expect(first?.pid).toBeUndefined()
  expect(await set.master()).toBe(second)
  expect(await second?.command('INCR', 'b')).toBe(2)

  await set.recover()
  expect(await first?.command('GET', 'b')).toBe('2')
  await expect(first?.command('SET', 'b', '3')).rejects.toThrow('READONLY')
  expect(await set.failover()).toBe(first)
  expect(await first?.command('INCR', 'b')).toBe(3)
})
