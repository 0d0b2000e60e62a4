import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import * as v from 'valibot'

import { docketAnswer } from './docket-answer.ts'
import { Fault, nextFault, send, spoil, throttled, type PlannedFault } from './fault.ts'
import { invent, type InventedDocket, type InventOptions } from './invented-docket.ts'
import { select } from './query.ts'

/** What it calls itself wherever it shows. */
export const standInName = 'stand-in for CourtListener'

/** How many dockets, which tokens, and which limit the stand-in has. */
export interface StandInOptions extends InventOptions {
  /** 0, any free port, unless told. */
  readonly port?: number
  /** The tokens it knows; `stand-in-token` unless told. */
  readonly tokens?: readonly string[]
  /** Requests each token has in an hour; 5,000 unless told. */
  readonly callLimit?: number
}

/** A stand-in that is listening. */
export interface StandIn {
  /** The base URL to give to a client. */
  readonly url: string
  readonly dockets: readonly InventedDocket[]
  /** The paths, with their queries, of all requests to the API so far, faults included. */
  readonly requests: readonly string[]
  /** Makes the next requests fail; also `POST /stand-in/faults` with the same JSON. */
  fail(fault: Fault): void
  close(): Promise<void>
}

/** Serves invented dockets on 127.0.0.1 in the shape of the CourtListener API, version 4. */
export async function startStandIn(options: StandInOptions = {}): Promise<StandIn> {
  const { tokens = ['stand-in-token'], callLimit = 5_000 } = options
  const dockets = invent(options)
  const byId = new Map(dockets.map((docket) => [String(docket.id), docket]))
  const planned: PlannedFault[] = []
  const requests: string[] = []
  const used = new Map<string, number>()
  let origin = 'http://127.0.0.1'
  let hourStartedMs = Date.now()

  const server = createServer((request, response) => {
    response.setHeader('Server', standInName)
    answer(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy()
      else send(response, 400, { detail: error instanceof Error ? error.message : String(error) })
    })
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', origin)
    if (url.pathname === '/stand-in/faults' && request.method === 'POST') return plan(request, response)
    requests.push(url.pathname + url.search)
    const fault = nextFault(planned, url.pathname)
    if (fault !== undefined) return spoil(response, fault)
    if (request.method !== 'GET')
      return send(response, 405, { detail: `Method "${request.method}" not allowed.` })
    const [, id] = /^\/api\/rest\/v4\/dockets\/(?:([^/]+)\/)?$/.exec(url.pathname) ?? [undefined, undefined]
    if (id === undefined && !url.pathname.endsWith('/dockets/')) return send(response, 404, notFound)
    if (!isAdmitted(request, response)) return undefined
    return id === undefined ? list(response, url) : detail(response, id)
  }

  function detail(response: ServerResponse, id: string): void {
    const docket = byId.get(id)
    if (docket === undefined) send(response, 404, { detail: 'No Docket matches the given query.' })
    else send(response, 200, docketAnswer(docket, `${origin}/api/rest/v4`))
  }

  function list(response: ServerResponse, url: URL): void {
    const selected = select(dockets, url.searchParams)
    if ('status' in selected) return send(response, selected.status, { detail: selected.detail })
    const at = (name: string, value: string | undefined) => {
      if (value === undefined) return null
      const there = new URL(url)
      there.searchParams.set(name, value)
      return there.href
    }
    return send(response, 200, {
      count: at('count', 'on'),
      next: at('cursor', selected.next),
      previous: at('cursor', selected.previous),
      results: selected.page.map((docket) => docketAnswer(docket, `${origin}/api/rest/v4`)),
    })
  }

  function isAdmitted(request: IncomingMessage, response: ServerResponse): boolean {
    const token = /^Token (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined || !tokens.includes(token)) {
      const detail = token === undefined ? 'Authentication credentials were not provided.' : 'Invalid token.'
      response.setHeader('WWW-Authenticate', 'Token')
      send(response, 401, { detail })
      return false
    }
    if (Date.now() - hourStartedMs >= 3_600_000) {
      hourStartedMs = Date.now()
      used.clear()
    }
    const count = (used.get(token) ?? 0) + 1
    if (count > callLimit) {
      throttled(response, Math.ceil((hourStartedMs + 3_600_000 - Date.now()) / 1000))
      return false
    }
    used.set(token, count)
    return true
  }

  async function plan(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await request.toArray()).join('')
    planned.push(v.parse(Fault, JSON.parse(body)))
    send(response, 200, { planned: planned.length })
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${origin}/api/rest/v4`,
    dockets,
    requests,
    fail: (fault) => void planned.push(v.parse(Fault, fault)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const notFound = { detail: 'Not found.' }
