import { createServer } from 'node:net'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { freePort } from './port.ts'

test('finds ports that can be listened on, with the cluster bus port that belongs to each', async () => {
  const port = await freePort()
  const servers = [
    createServer().listen(port, '127.0.0.1'),
    createServer().listen(port + 10_000, '127.0.0.1'),
  ]
  await Promise.all(servers.map((server) => once(server, 'listening')))
  expect(port + 10_000).toBeLessThan(32_768) // where Linux begins to number outgoing connections
  for (const server of servers) server.close()
})
