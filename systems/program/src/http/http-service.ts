import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { bodyOf, type Call, jsonIn, requireJson } from './call.ts'
import { isCrossSite, isLook, isOwnHost, isWellFormed } from './origin.ts'
import { Problem } from './problem.ts'

/** What a route answers: JSON, a page, or nothing. */
export interface Answer {
  /** 200 unless told; 204 where there is no body. */
  readonly status?: number
  readonly body?: unknown
  readonly html?: string
  /** Of the body; `application/json` unless told. */
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  /** What a log may say of it beside path and status. */
  readonly trace?: object
}

/** Answers requests of one method and path. */
export type Route = (call: Call) => Promise<Answer>

/** What a service told a client. */
export interface Answered {
  readonly method: string
  /** The path as its route spells it (`/movie/:id`), or `*` if there is no such route: never what the client sent. */
  readonly route: string
  readonly status: number
  readonly ms: number
  readonly trace: object | undefined
}

/** A service over HTTP. */
export interface ServiceOptions {
  /** By method and path: `GET /sessions/:userId`. */
  readonly routes: Readonly<Record<string, Route>>
  /** The `GET` routes that change something, which no page of another site may ask for. */
  readonly changing?: readonly string[]
  /** Comes back while the service can do its work; what it rejects with makes `/readyz` answer 503. */
  readonly ready?: () => Promise<unknown>
  /** Makes an answer of what a route rejected with; a problem document unless told. */
  readonly refused?: (problem: Problem) => Answer
  /** Makes a problem of what a route rejected with, where it is none; a 500 unless told. */
  readonly problemOf?: (error: unknown) => Problem
  /** Host names that clients may call it by, beside those of this machine. */
  readonly hosts?: readonly string[]
  /** How many requests it works on at once; 256 unless told. One more is answered 503. */
  readonly concurrency?: number
  /** How long a request may take to arrive, its body too; 60,000 unless told. */
  readonly arrivalMs?: number
  readonly log?: (line: string) => void
  readonly answered?: (answer: Answered) => void
  /** Adds what is an application of its own, such as a dashboard. */
  readonly mount?: (app: Hono<{ Bindings: HttpBindings }>) => void
}

/** A service that listens on 127.0.0.1. */
export interface Listening {
  readonly url: string
  /** Takes no more connections, lets what was asked be answered for 5 s at most, and ends all connections. */
  close(): Promise<void>
}

/** A service that does not listen yet. */
export interface HttpService {
  /** Listens on 127.0.0.1; on any free port for 0, as unless told. */
  listen(port?: number): Promise<Listening>
}

type Bound = Context<{ Bindings: HttpBindings }>

const PATIENCE_MS = 5_000
const HEADERS_MS = 10_000

/**
 * The one way in which a system serves HTTP. Before a route sees a request, its host, origin, path and place in the queue were
 * looked at, and no byte of its body was read. No request ends the service. Answers of its own are problem documents (RFC 9457),
 * and hold neither stacks nor what the client sent. `/livez` answers while the process serves, `/readyz` while it can work.
 */
export function httpService(options: ServiceOptions): HttpService {
  const { routes, hosts = [], concurrency = 256, log = console.error, answered } = options
  const refused = options.refused ?? documented
  const problemOf = options.problemOf ?? failed
  const app = new Hono<{ Bindings: HttpBindings }>()
  let inFlight = 0
  let isClosing = false

  const respond = (context: Bound, { status, body, html, type, headers = {} }: Answer): Response => {
    const told = new Headers(headers)
    guard(told)
    if (isClosing || !context.env.incoming.complete) told.set('Connection', 'close')
    for (const [name, value] of (context.get('headers' as never) as Headers | undefined) ?? [])
      told.set(name, value)
    if (html !== undefined) {
      told.set('Content-Type', 'text/html; charset=utf-8')
      return new Response(html, { status: status ?? 200, headers: told })
    }
    if (body === undefined) return new Response(null, { status: status ?? 204, headers: told })
    told.set('Content-Type', `${type ?? 'application/json'}; charset=utf-8`)
    return new Response(JSON.stringify(body), { status: status ?? 200, headers: told })
  }

  const refuse = (context: Bound, error: unknown, route: string): Answer => {
    const problem = error instanceof Problem ? error : problemOf(error)
    // Nobody is there to be told, and what broke off is no failure of ours.
    if (problem.cause !== undefined && !context.req.raw.signal.aborted)
      log(`${context.req.method} ${route}: ${problem.message}: ${wordsOf(problem.cause)}`)
    return { ...refused(problem), headers: { ...problem.headers } }
  }

  const handled = (route: string, answer: Route) => async (context: Bound) => {
    const begun = performance.now()
    let told: Answer
    let response: Response
    try {
      told = await answer(callOf(context))
      // Here, since an answer that cannot be written is a failure of the route.
      response = respond(context, told)
    } catch (error) {
      told = refuse(context, error, route)
      response = respond(context, told)
    }
    const ms = Math.round((performance.now() - begun) * 10) / 10
    answered?.({ method: context.req.method, route, status: response.status, ms, trace: told.trace })
    return response
  }

  app.use(async (context, next) => {
    const { incoming } = context.env
    if (!isOwnHost(incoming.headers.host, hosts))
      return respond(context, ofShell(new Problem(421, 'This service has another name')))
    if (!isWellFormed(incoming.url ?? '/'))
      return respond(context, ofShell(new Problem(400, 'The path is malformed')))
    if (!isLook(incoming) && isCrossSite(incoming, hosts))
      return respond(context, ofShell(new Problem(403, 'Another site may not ask for this')))
    return next()
  })
  app.get('/livez', (context) => respond(context, { body: { status: 'live' } }))
  app.get('/readyz', async (context) => {
    try {
      if (isClosing) throw new Error('it is closing')
      await options.ready?.()
      return respond(context, { body: { status: 'ready' } })
    } catch {
      const headers = { 'Retry-After': '1' }
      return respond(context, ofShell(new Problem(503, 'The service cannot work now', { headers })))
    }
  })
  app.use(async (context, next) => {
    if (inFlight >= concurrency) {
      const headers = { 'Retry-After': '1' }
      return respond(context, ofShell(new Problem(503, 'The service has enough to do', { headers })))
    }
    inFlight += 1
    try {
      return await next()
    } finally {
      inFlight -= 1
    }
  })
  for (const name of options.changing ?? [])
    app.use(name.split(' ')[1]!, async (context, next) =>
      isCrossSite(context.env.incoming, hosts)
        ? respond(context, ofShell(new Problem(403, 'Another site may not ask for this')))
        : next(),
    )
  const methods = new Map([
    ['/livez', ['GET']],
    ['/readyz', ['GET']],
  ])
  for (const [name, route] of Object.entries(routes)) {
    const [method = '', path = ''] = name.split(' ')
    methods.set(path, [...(methods.get(path) ?? []), method])
    app.on(method, path, handled(path, route))
  }
  for (const [path, allowed] of methods)
    app.all(
      path,
      handled(path, async ({ method }) => {
        const headers = { Allow: allowed.join(', ') }
        throw new Problem(
          405,
          `This path takes ${allowed.join(', ')}, not ${KNOWN.has(method) ? method : 'that'}`,
          { headers },
        )
      }),
    )
  if (options.mount !== undefined) {
    app.use(async (context, next) => {
      await next()
      guard(context.res.headers)
    })
    options.mount(app)
  }
  app.notFound((context) =>
    handled('*', async () => {
      throw new Problem(404, 'There is nothing at this path')
    })(context as Bound),
  )
  app.onError((error, context) => respond(context as Bound, refuse(context as Bound, error, '*')))

  const arrivalMs = options.arrivalMs ?? 60_000
  const listener = getRequestListener(app.fetch, {
    // The routes never see a target or a `Host` that is none.
    errorHandler: (error) => written(error instanceof RequestError ? MALFORMED : failed(error)),
  })
  const server = createServer(
    {
      headersTimeout: Math.min(HEADERS_MS, arrivalMs),
      requestTimeout: arrivalMs,
      keepAliveTimeout: PATIENCE_MS,
      connectionsCheckingInterval: 1_000,
      // A request without a `Host` is answered as one with a malformed one.
      requireHostHeader: false,
    },
    (request, response) => void listener(request, response),
  )
  // An expectation other than `100-continue` is ignored, as RFC 9110 (10.1.1) allows.
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response))
  server.on('clientError', refuseBytes)

  return {
    async listen(port = 0) {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      return {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        async close() {
          isClosing = true
          const late = setTimeout(() => server.closeAllConnections(), PATIENCE_MS)
          await new Promise<void>((resolve) => {
            server.close(() => resolve())
            server.closeIdleConnections()
          })
          clearTimeout(late)
        },
      }
    },
  }
}

const KNOWN: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

function callOf(context: Bound): Call {
  const { incoming }: { incoming: IncomingMessage } = context.env
  const headers = new Headers()
  context.set('headers' as never, headers as never)
  const bytes = async (maxBytes: number) => Buffer.concat(await all(bodyOf(incoming, maxBytes)))
  return {
    method: context.req.method,
    query: new URL(context.req.url).searchParams,
    signal: context.req.raw.signal,
    param: (name) => context.req.param(name as never) ?? '',
    header: (name) => context.req.header(name),
    setHeader: (name, value) => headers.set(name, value),
    body: (maxBytes) => bodyOf(incoming, maxBytes),
    bytes,
    async json(maxBytes) {
      requireJson(incoming.headers['content-type'])
      return jsonIn(await bytes(maxBytes))
    },
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

function documented(problem: Problem): Answer {
  return { status: problem.status, type: 'application/problem+json', body: problem.document }
}

function ofShell(problem: Problem): Answer {
  return { ...documented(problem), headers: problem.headers }
}

/** The headers of every answer. */
function guard(headers: Headers): void {
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store')
  headers.set('X-Content-Type-Options', 'nosniff')
}

const MALFORMED = new Problem(400, 'The request is malformed')

function written(problem: Problem): Response {
  const headers = new Headers({ Connection: 'close', 'Content-Type': DOCUMENT })
  guard(headers)
  return new Response(JSON.stringify(problem.document), { status: problem.status, headers })
}

/** Answers bytes that are no request, or only a part of one. */
function refuseBytes(error: NodeJS.ErrnoException, socket: Duplex): void {
  const problem = UNREADABLE[error.code ?? ''] ?? MALFORMED
  // An answer that has begun must not be followed by another one.
  const isAnswering = (socket as { _httpMessage?: ServerResponse | null })._httpMessage?.headersSent === true
  if (!socket.writable || isAnswering) return void socket.destroy()
  const body = JSON.stringify(problem.document)
  const headers = new Headers({
    Connection: 'close',
    'Content-Type': DOCUMENT,
    'Content-Length': String(Buffer.byteLength(body)),
  })
  guard(headers)
  const head = [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(`HTTP/1.1 ${problem.status} ${problem.title}\r\n${head}\r\n${body}`, () => socket.destroy())
}

const DOCUMENT = 'application/problem+json; charset=utf-8'
const UNREADABLE: Readonly<Record<string, Problem>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new Problem(408, 'The request took too long to arrive'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new Problem(413, 'The extensions of a chunk are too long'),
  HPE_HEADER_OVERFLOW: new Problem(431, 'The headers are too long'),
}

function failed(error: unknown): Problem {
  return new Problem(500, 'The service failed', { cause: error })
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
