import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, startRedis, type TemporaryRedis } from 'keyspec/testing'
import { now } from '../clock.ts'
import { caughtUp, caughtUpAt } from './caught-up.ts'

let primary: TemporaryRedis
let replica: TemporaryRedis

beforeAll(async () => {
  const config = { 'repl-diskless-sync-delay': '0' }
  ;[primary, replica] = await Promise.all([
    startRedis({ port: 'any', config }),
    startRedis({ port: 'any', config }),
  ])
  await replica.command('REPLICAOF', '127.0.0.1', `${primary.port}`)
})
afterAll(() => Promise.all([primary?.stop(), replica?.stop()]))

test('says a time before which nothing that was acknowledged can be lost', async () => {
  await caughtUp(primary, replica)
  await primary.command('SET', 'a', '1')
  const acknowledged = now()
  const at = await caughtUp(primary, replica)
  expect(at).toBeGreaterThanOrEqual(acknowledged)
  expect(await replica.command('GET', 'a')).toBe('1')
})

test('says nothing of a replica that lacks a write, though its link is up', async () => {
  await caughtUp(primary, replica)
  const between = new Proxy(replica, {
    get: (target, name) =>
      name === 'command'
        ? async () => behind(String(await target.command('INFO', 'replication')))
        : Reflect.get(target, name),
  })
  expect(await caughtUpAt(primary, between)).toBeUndefined()
})

test('says nothing of a replica of another history, nor of one without a link', async () => {
  await caughtUp(primary, replica)
  expect(await caughtUpAt(replica, primary)).toBeUndefined()
  await replica.command('REPLICAOF', 'NO', 'ONE')
  expect(await caughtUpAt(primary, replica)).toBeUndefined()
  await replica.command('REPLICAOF', '127.0.0.1', `${primary.port}`)
  await eventually(async () => expect(await caughtUpAt(primary, replica)).toBeDefined(), { within: '20s' })
})

/** The report of a replica that has not got the last byte. */
function behind(info: string): string {
  return info.replace(/(?<=slave_repl_offset:)\d+/, (offset) => `${Number(offset) - 1}`)
}
