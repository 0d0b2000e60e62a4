import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { ExpressAdapter } from '@bull-board/express'
import type { Broker } from '../worker/broker.ts'

/** Bull Board, on this machine alone, only to look at, and loading nothing from elsewhere: where it is, and how to end it. */
export interface Board {
  readonly url: string
  close(): Promise<void>
}

// Its page asks another host for a font; it does without.
const policy = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Serves Bull Board over the queues; any free port unless told. */
export async function serveBoard(broker: Broker, port = 0): Promise<Board> {
  const server = new ExpressAdapter()
  createBullBoard({
    queues: Object.values(broker.queues).map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter: server,
  })
  const board = server.getRouter() as RequestListener
  const http = createServer((request, response) => {
    // A page elsewhere whose name was pointed at this machine may not read it.
    if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? '')) {
      response.writeHead(403).end('The board is for this machine alone.')
      return
    }
    response.setHeader('Content-Security-Policy', policy)
    board(request, response)
  })
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}
