import { expect, test } from 'vitest'
import { clientOf, madeOver } from './client-of.ts'
import type { Connection } from './connection.ts'
import { tick } from './pipeline/tick.ts'
import { guarded } from './guard/guarded.ts'
import { wrapConnection } from './wrap.ts'

const client = {}
const inner: Connection = madeOver(client, {
  client: 'node-redis',
  cluster: true,
  dear: true,
  send: async () => 'inner',
  masters: async () => [inner],
})

test.each<[string, (connection: Connection) => Connection]>([
  ['wrapConnection', (connection) => wrapConnection(connection, { send: async () => 'own' })],
  ['tick', tick],
  ['guarded', guarded],
])('%s keeps every fact about the client', async (_, wrap) => {
  const wrapped = wrap(inner)
  // Every property that is no verb, those too that come later.
  expect(wrapped).toMatchObject({ ...inner, send: expect.any(Function), masters: expect.any(Function) })
  expect(clientOf(wrapped)).toBe(client)
  expect(await wrapped.masters()).toHaveLength(1)
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
