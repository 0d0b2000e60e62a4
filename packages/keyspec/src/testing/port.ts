import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { TestServerError } from './test-server-error.ts'

/**
 * A loopback port that nobody listens on, and whose cluster bus port (10000 above) is free too. Both lie below the
 * ports that Linux and macOS give to outgoing connections, so that none of those can take it before it is used.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(11_000, 22_000)
    if ((await isFree(port)) && (await isFree(port + 10_000))) return port
  }
  throw new TestServerError('No free port on 127.0.0.1 between 11000 and 22000: a hundred were tried.')
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
