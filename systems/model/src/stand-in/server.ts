import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { plan, spoil, type Fault } from './fault.ts'

/** A request as a stand-in sees it. */
export interface Asked {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A stand-in's answer: a text is sent as it is, anything else as JSON. */
export interface Told {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** A stand-in that is listening on 127.0.0.1. */
export interface StandIn {
  readonly url: string
  /** How many requests it has had, faults included. */
  requests(): number
  /** Makes the next requests fail; also `POST /stand-in/faults` with the same JSON. */
  fail(fault: Fault): void
  close(): Promise<void>
}

/** Serves `answer` under a name that says it is a stand-in, with faults that can be switched on. */
export async function serveStandIn(
  name: string,
  answer: (asked: Asked) => Told | Promise<Told>,
  port = 0,
): Promise<StandIn> {
  const faults = plan()
  let requests = 0

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = await askedOf(request)
    response.setHeader('Server', name)
    if (asked.url.pathname === '/stand-in/faults') {
      faults.add(JSON.parse(asked.body.toString()) as Fault)
      response.writeHead(204).end()
      return
    }
    requests += 1
    const { status = 200, headers = {}, body } = await answer(asked)
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const fault = faults.next(asked.url.pathname)
    if (fault === undefined)
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(text)
    else spoil(response, fault, text)
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.writeHead(400).end(String(error)))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    fail: (fault) => faults.add(fault),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function askedOf(request: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return {
    method: request.method ?? 'GET',
    url: new URL(request.url ?? '/', 'http://127.0.0.1'),
    headers: request.headers,
    body: Buffer.concat(chunks),
  }
}
