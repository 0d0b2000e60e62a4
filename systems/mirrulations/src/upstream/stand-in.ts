import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import * as v from 'valibot'

import { mediaType } from './invented-file.ts'
import { invent, type InventedRecord, type InventOptions } from './invented-record.ts'
import { kinds, type Kind } from './record-kind.ts'
import { contentOf, detailAnswer, listAnswer } from './stand-in-answer.ts'
import { deliver, Fault, overLimit, problem, send, spoil, type PlannedFault } from './stand-in-fault.ts'
import { select, type RepeatedHour } from './stand-in-query.ts'
import { parseUtc } from './timestamp.ts'

/** What it calls itself wherever it shows. */
export const standInName = 'stand-in for regulations.gov'

/** How many records, which keys, and which limits the stand-in has. */
export interface StandInOptions extends InventOptions {
  /** 0, any free port, unless told. */
  readonly port?: number
  /** The API keys it knows; `DEMO_KEY` unless told. */
  readonly apiKeys?: readonly string[]
  /** Requests each key has, ever; 1,000,000 unless told. */
  readonly rateLimit?: number
  readonly repeatedHour?: RepeatedHour
}

/** A stand-in that is listening. */
export interface StandIn {
  /** The base URL to give to a client. */
  readonly url: string
  readonly records: readonly InventedRecord[]
  /** How many requests it has answered, faults included. */
  requests(): number
  /** Makes the next requests fail; also `POST /stand-in/faults` with the same JSON. */
  fail(fault: Fault): void
  /** Stands for an agency's edit of a record: UTC, `YYYY-MM-DD HH:MM:SS`. */
  modify(id: string, at: string): void
  close(): Promise<void>
}

/** Serves invented records on 127.0.0.1 in the shape of the regulations.gov API, version 4. */
export async function startStandIn(options: StandInOptions = {}): Promise<StandIn> {
  const { apiKeys = ['DEMO_KEY'], rateLimit = 1_000_000, repeatedHour = 'first' } = options
  const records = invent(options)
  const byId = new Map(records.map((record) => [record.id, record]))
  const byKind: Record<Kind, InventedRecord[]> = { dockets: [], documents: [], comments: [] }
  for (const record of records) byKind[record.kind].push(record)
  const faults: PlannedFault[] = []
  const used = new Map<string, number>()
  const sorted = new Map<string, readonly InventedRecord[]>()
  let origin = 'http://127.0.0.1'
  let requests = 0

  const server = createServer((request, response) => {
    requests += 1
    response.setHeader('Server', standInName)
    answer(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy()
      else send(response, 400, problem(400, error instanceof Error ? error.message : String(error)))
    })
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(`${origin}${request.url ?? '/'}`)
    if (url.pathname === '/stand-in/faults' && request.method === 'POST') return plan(request, response)
    const fault = nextFault(url.pathname)
    if (fault !== undefined && spoil(response, fault)) return
    const isCut = fault !== undefined
    if (request.method !== 'GET') return send(response, 405, problem(405, 'The stand-in answers GET only'))
    if (url.pathname === '/') return sendPage(response)
    const [, root, first, id] = url.pathname.split('/').map(decodeURIComponent)
    if (root === 'downloads') return sendFile(response, `${first}`, `${id}`, isCut)
    if (root !== 'v4' || !isKind(first))
      return send(response, 404, problem(404, `There is no ${url.pathname}`))
    if (!admit(request, response, url)) return undefined
    const json = id === undefined ? listed(first, url) : detailed(first, id, url)
    return send(response, json.status, json.body, isCut)
  }

  function listed(kind: Kind, url: URL): { status: number; body: unknown } {
    const selected = select(kind, byKind[kind], sorted, url.searchParams, repeatedHour)
    if ('problem' in selected) return { status: 400, body: problem(400, selected.problem) }
    return { status: 200, body: listAnswer(selected, `${origin}/v4`) }
  }

  function detailed(kind: Kind, id: string, url: URL): { status: number; body: unknown } {
    const record = byId.get(id)
    if (record === undefined || record.kind !== kind || record.isMissing) {
      return { status: 404, body: problem(404, `There is no resource with id ${id}`) }
    }
    const include = url.searchParams.get('include')
    if (include !== null && include !== 'attachments') {
      return { status: 400, body: problem(400, 'include supports attachments only') }
    }
    const body = detailAnswer(record, `${origin}/v4`, `${origin}/downloads`, include !== null)
    return { status: 200, body }
  }

  function admit(request: IncomingMessage, response: ServerResponse, url: URL): boolean {
    const header = request.headers['x-api-key']
    const key = typeof header === 'string' ? header : url.searchParams.get('api_key')
    if (key === null || key === '') {
      send(response, 403, { error: { code: 'API_KEY_MISSING', message: 'No api_key was supplied.' } })
      return false
    }
    if (!apiKeys.includes(key)) {
      send(response, 403, { error: { code: 'API_KEY_INVALID', message: 'An invalid api_key was supplied.' } })
      return false
    }
    const count = (used.get(key) ?? 0) + 1
    used.set(key, count)
    response.setHeader('X-RateLimit-Limit', rateLimit)
    response.setHeader('X-RateLimit-Remaining', Math.max(0, rateLimit - count))
    if (count <= rateLimit) return true
    response.setHeader('Retry-After', 3600)
    send(response, 429, overLimit)
    return false
  }

  function sendFile(response: ServerResponse, id: string, name: string, isCut: boolean): void {
    const record = byId.get(id)
    const file = record?.files.find((each) => each.name === name)
    if (record === undefined || file === undefined)
      return send(response, 404, problem(404, `There is no file ${name}`))
    response.setHeader('Content-Type', mediaType(file.format))
    return deliver(response, 200, contentOf(record, file), isCut)
  }

  function sendPage(response: ServerResponse): void {
    const counts = kinds.map(
      (kind) => `<li><a href="/v4/${kind}?api_key=DEMO_KEY">${byKind[kind].length} ${kind}</a></li>`,
    )
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    const page =
      `<!DOCTYPE html><html lang="en"><title>${standInName}</title><h1>A ${standInName}</h1>` +
      `<p>Every record here is invented. The real API is at https://api.regulations.gov/v4.</p><ul>${counts.join('')}</ul>`
    deliver(response, 200, Buffer.from(page), false)
  }

  async function plan(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    try {
      faults.push(v.parse(Fault, JSON.parse(body)))
      send(response, 200, { planned: faults.length })
    } catch (error) {
      send(response, 400, problem(400, error instanceof Error ? error.message : String(error)))
    }
  }

  /** The fault for this request, if one is planned for its path. */
  function nextFault(path: string): PlannedFault | undefined {
    const index = faults.findIndex((each) => path.startsWith(each.path))
    const fault = faults[index]
    if (fault === undefined) return undefined
    if (fault.times > 1) faults[index] = { ...fault, times: fault.times - 1 }
    else faults.splice(index, 1)
    return fault
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${origin}/v4`,
    records,
    requests: () => requests,
    fail: (fault) => void faults.push(v.parse(Fault, fault)),
    modify(id, at) {
      const record = byId.get(id)
      if (record === undefined) throw new RangeError(`the stand-in has no record ${id}`)
      record.modifiedMs = parseUtc(at)
      sorted.clear()
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function isKind(text: string | undefined): text is Kind {
  return text === 'dockets' || text === 'documents' || text === 'comments'
}
