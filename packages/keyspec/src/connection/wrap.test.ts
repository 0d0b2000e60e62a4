import { expect, test } from 'vitest'
import { clientOf, madeOver } from './client-of.ts'
import type { Connection } from './connection.ts'
import { guarded } from './guard/guarded.ts'
import { tick } from './pipeline/tick.ts'
import { Watch } from './tracking/invalidations-watch.ts'
import { text } from '../codec/text.ts'
import { keySpec } from '../kind/kind.ts'
import { renaming } from '../kind/renaming.ts'
import { dropping, Near } from '../recipe/cache/near.ts'
import { wrapConnection } from './wrap.ts'

const client = {}
const inner: Connection = madeOver(client, {
  client: 'node-redis',
  cluster: true,
  dear: true,
  send: async () => 'inner',
  masters: async () => [inner],
})

const silent = { listen() {}, track: async () => '', ping: async () => 'PONG' }
const near = new Near<string>(new Watch(silent, { ...inner, cluster: false }), 10)
const renamed = keySpec('session:<id>', 'string', text, {
  ttl: '1h',
  renamedFrom: { pattern: 'sess:<id>', phase: 1 },
})

const wrappers: [string, (connection: Connection) => Connection][] = [
  ['wrapConnection', (connection) => wrapConnection(connection, { send: async () => 'own' })],
  ['tick', tick],
  ['guarded', guarded],
  ['dropping', (connection) => dropping(connection, near)],
  ['renaming', (connection) => renaming(connection, [renamed], '')],
]

test.each(wrappers)('%s keeps every fact about the client', async (_, wrap) => {
  const wrapped = wrap(inner)
  expect(wrapped).toMatchObject({ ...inner, send: expect.any(Function), masters: expect.any(Function) })
  expect(clientOf(wrapped)).toBe(client)
  expect(await wrapped.masters()).toHaveLength(1)
})

test.each(wrappers)('%s keeps properties that no version of Keyspec knows', (_, wrap) => {
  const region = Symbol('region')
  const extended = madeOver(client, { ...inner, later: 'one', [region]: 'eu' })
  const wrapped = wrap(extended)
  expect(wrapped).not.toBe(extended)
  expect(wrapped).toMatchObject({ later: 'one', [region]: 'eu' })
  expect(clientOf(wrapped)).toBe(client)
})

test('a wrapper keeps the facts about an adapter that is a class', () => {
  class Adapter implements Connection {
    get client() {
      return 'own-client'
    }
    get cluster() {
      return true
    }
    get dear() {
      return true
    }
    send = inner.send
    masters = inner.masters
  }
  const wrapped = wrapConnection(new Adapter(), { send: inner.send })
  expect(wrapped).toMatchObject({ client: 'own-client', cluster: true, dear: true })
})

test('a wrapper sends by itself, and without masters of its own returns those of the inner connection', async () => {
  const wrapped = wrapConnection(inner, { send: async () => 'own' })
  expect(await wrapped.send(['GET', 'a'], { firstKey: 1, keyCount: 1 })).toBe('own')
  expect(await wrapped.masters()).toEqual([inner])
})

test('a client that does not say whether its commands are dear is taken to be cheap', () => {
  const silent: Connection = { client: 'a', cluster: false, send: inner.send, masters: inner.masters }
  expect(wrapConnection(silent, { send: inner.send }).dear).toBe(false)
})
