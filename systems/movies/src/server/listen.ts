import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server that listens on 127.0.0.1. */
export interface Listening {
  readonly url: string
  /** Lets what was asked be answered, for 5 s at most, and stops. */
  close(): Promise<void>
}

/** Lets a server listen on 127.0.0.1, on any free port for 0. */
export async function listen(server: Server, port: number): Promise<Listening> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const late = setTimeout(() => server.closeAllConnections(), 5_000)
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeIdleConnections()
      })
      clearTimeout(late)
    },
  }
}
