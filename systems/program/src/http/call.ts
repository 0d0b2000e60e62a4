import type { IncomingMessage } from 'node:http'
import { Problem } from './problem.ts'

/** One request, as a route sees it. */
export interface Call {
  readonly method: string
  readonly query: URLSearchParams
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal
  /** What stands at a placeholder of the route: `:userId`. */
  param(name: string): string
  header(name: string): string | undefined
  /** Adds a header to the answer, whatever becomes of the request. */
  setHeader(name: string, value: string): void
  /** The body, piece by piece. Rejects with a 413 as soon as it is known to be longer, at the latest when it is. */
  body(maxBytes: number): AsyncIterable<Uint8Array>
  /** The whole body. */
  bytes(maxBytes: number): Promise<Buffer>
  /** The whole body as JSON. Rejects with a 415 if the request says that it is something else. */
  json(maxBytes: number): Promise<unknown>
}

/** The body of a request, no longer than it may be: what it says of its length is believed only where it is too long. */
export async function* bodyOf(request: IncomingMessage, maxBytes: number): AsyncGenerator<Uint8Array> {
  const tooLong = () => new Problem(413, `A body has ${maxBytes} bytes at most here`)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLong()
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw tooLong()
    yield chunk
  }
}

/** The JSON in a body; nothing is an empty object. */
export function jsonIn(body: Buffer): unknown {
  if (body.length === 0) return {}
  // What walks through it, or writes it again, does so by calls within calls.
  if (depthOf(body) > MAX_DEPTH) throw new Problem(400, `JSON is ${MAX_DEPTH} deep at most here`)
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    // The words of the parser quote the body.
    throw new Problem(400, 'The body is not JSON')
  }
}

const MAX_DEPTH = 200

/** How deep arrays and objects stand within each other in a JSON text. */
function depthOf(text: Uint8Array): number {
  let [depth, deepest, inString] = [0, 0, false]
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at]
    if (inString) {
      if (byte === BACKSLASH) at += 1
      else inString = byte !== QUOTE
    } else if (byte === QUOTE) inString = true
    else if (byte === OPENING || byte === OPENING_BRACE) deepest = Math.max(deepest, (depth += 1))
    else if (byte === CLOSING || byte === CLOSING_BRACE) depth -= 1
  }
  return deepest
}

const [QUOTE, BACKSLASH, OPENING, CLOSING, OPENING_BRACE, CLOSING_BRACE] = Buffer.from('"\\[]{}')

/** Requires that a request with a body says that it is JSON: a page elsewhere cannot, without being asked first. */
export function requireJson(type: string | undefined): void {
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type ?? ''))
    throw new Problem(415, 'The body must be application/json')
}
