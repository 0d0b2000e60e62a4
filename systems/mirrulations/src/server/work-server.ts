import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isUnavailable } from 'keyspec'
import * as v from 'valibot'
import type { Mirrulations } from '../keyspace.ts'
import type { Store } from '../storage/store.ts'
import { dataPage } from './data-page.ts'
import { Problem } from './problem.ts'
import { statistics } from './statistics.ts'
import { Results, Work } from './work.ts'

/** What the work server works with. */
export interface WorkServerOptions {
  readonly keys: Mirrulations
  readonly store: Store
  /** How long a job may be held without being renewed, which clients are told. */
  readonly leaseMs: number
  /** Where the records come from, for the page. */
  readonly source: string
  /** The largest record, in bytes; 64 MiB unless told. */
  readonly maxBodyBytes?: number
}

type Route = (request: IncomingMessage, query: URLSearchParams) => Promise<Answer>

interface Answer {
  readonly body: unknown
  readonly html?: string
}

/** The work server, not yet listening: gives jobs to clients, and stores what they bring. */
export function workServer(options: WorkServerOptions): Server {
  const { keys, store, leaseMs, source, maxBodyBytes = 67_108_864 } = options
  const work = new Work(keys, store)

  const forClient =
    (answer: (client: string, query: URLSearchParams, request: IncomingMessage) => Promise<unknown>): Route =>
    async (request, query) => {
      const client = await work.client(query.get('client_id'))
      return { body: await answer(client, query, request) }
    }

  const routes: Readonly<Record<string, Route>> = {
    'GET /get_client_id': async () => ({ body: { client_id: await work.newClient() } }),
    'GET /get_job': forClient(async (client, query) => ({
      job: await work.next(client, query.get('again') === '1'),
      lease_ms: leaseMs,
    })),
    'PUT /put_results': forClient(async (client, _, request) => {
      const results = parsed(await readBody(request, maxBodyBytes))
      const outcome = await work.finish(client, results)
      return {
        success: outcome === 'done' ? 'The job was successfully completed' : 'The job was noted as invalid',
      }
    }),
    'PUT /put_file': forClient(async (client, query, request) => ({
      bytes: await work.file(client, needed(query, 'job_id'), needed(query, 'directory'), request),
    })),
    'PUT /renew_job': forClient(async (client, query) => {
      await work.renew(client, needed(query, 'job_id'))
      return { success: 'The lease of the job has begun anew' }
    }),
    'PUT /return_job': forClient(async (client, query) => {
      await work.giveBack(client, needed(query, 'job_id'))
      return { success: 'The job waits again' }
    }),
    'GET /data': async (request) => {
      const body = await statistics(keys)
      return prefersHtml(request) ? { body, html: dataPage(body, source) } : { body }
    },
  }
  const paths = new Set(Object.keys(routes).map((route) => route.split(' ')[1]))

  return createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
    const route = routes[`${request.method} ${pathname}`]
    const answer = async () => {
      if (route !== undefined) return route(request, searchParams)
      throw paths.has(pathname)
        ? new Problem(405, `${pathname} does not take ${request.method}`)
        : new Problem(404, `There is no ${pathname}`)
    }
    answer().then(
      ({ body, html }) => (html === undefined ? sendJson(response, 200, body) : sendPage(response, html)),
      (error: unknown) => refuse(request, response, error),
    )
  })
}

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  const problem =
    error instanceof Problem
      ? error
      : isUnavailable(error)
        ? new Problem(500, 'Cannot connect to the database', error)
        : new Problem(500, 'The work server failed', error)
  if (problem.cause !== undefined && problem.status === 500) {
    console.error(`${request.method} ${request.url?.split('?')[0]}: ${(problem.cause as Error).message}`)
  }
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  // A body that nobody reads to its end would keep the connection busy.
  if (!request.complete) response.setHeader('Connection', 'close')
  sendJson(response, problem.status, { error: problem.message })
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' })
  response.end(JSON.stringify(body))
}

function sendPage(response: ServerResponse, html: string): void {
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', Vary: 'Accept' })
  response.end(html)
}

function needed(query: URLSearchParams, name: string): string {
  const value = query.get(name)
  if (value === null || value === '') throw new Problem(400, `${name} was not provided`)
  return value
}

function parsed(body: string): v.InferOutput<typeof Results> {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch (error) {
    throw new Problem(400, `The body is not JSON: ${(error as Error).message}`)
  }
  // Clients of the first generation sent their JSON as a text inside JSON.
  if (typeof json === 'string') return parsed(json)
  const results = v.safeParse(Results, json)
  if (results.success) return results.output
  const [issue] = results.issues
  throw new Problem(400, `The body is not a result: ${v.getDotPath(issue) ?? 'the body'}: ${issue.message}`)
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new Problem(413, `The body has more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function prefersHtml(request: IncomingMessage): boolean {
  const weight = (type: RegExp) => {
    for (const part of (request.headers.accept ?? '').split(',')) {
      if (type.test(part.trim())) return Number(/;\s*q=([\d.]+)/.exec(part)?.[1] ?? 1)
    }
    return 0
  }
  return weight(/^text\/html\b/) > weight(/^application\/json\b/)
}
