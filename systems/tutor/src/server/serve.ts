import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Listens on 127.0.0.1, on any free port where it is 0; answers the URL. */
export async function listen(server: Server, port = 0): Promise<string> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Answers what has been asked by now, for at most `patienceMs`, and then closes. */
export async function closeServer(server: Server, patienceMs = 5_000): Promise<void> {
  server.closeIdleConnections()
  const cut = setTimeout(() => server.closeAllConnections(), patienceMs)
  await new Promise<void>((resolve) => server.close(() => resolve()))
  clearTimeout(cut)
}
