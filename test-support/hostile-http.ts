import { connect } from 'node:net'

/** Requests that no service may die of, each as it stands on the wire. */
function hostileRequests(host: string, seed = 1): readonly Buffer[] {
  const ends = `Host: ${host}\r\nConnection: close\r\n\r\n`
  const lines = [
    'GET // HTTP/1.1',
    'GET //[ HTTP/1.1',
    'GET /\\ HTTP/1.1',
    'GET http:// HTTP/1.1',
    'GET http://[::1 HTTP/1.1',
    'GET http://elsewhere.example/ HTTP/1.1',
    'GET * HTTP/1.1',
    'OPTIONS * HTTP/1.1',
    'CONNECT 127.0.0.1:1 HTTP/1.1',
    'TRACE / HTTP/1.1',
    'GET /%E0%A4%A HTTP/1.1',
    'GET /%00 HTTP/1.1',
    'GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1',
    'GET /../../etc/passwd HTTP/1.1',
    'GET /?%E0%A4%A=%&&&=;# HTTP/1.1',
    `GET /${'a/'.repeat(3_000)} HTTP/1.1`,
    `GET /?q=${'%41'.repeat(2_000)} HTTP/1.1`,
    'GET / HTTP/9.9',
    'G@T / HTTP/1.1',
    'PUT /__proto__ HTTP/1.1',
    'DELETE /constructor HTTP/1.1',
  ]
  const whole = [
    `GET / HTTP/1.1\r\nHost: \r\nConnection: close\r\n\r\n`,
    `GET / HTTP/1.1\r\nConnection: close\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: [\r\nConnection: close\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: ${host}\r\nHost: b\r\nConnection: close\r\n\r\n`,
    `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: -1\r\n\r\n`,
    `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n`,
    `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\nConnection: close\r\n\r\n\x1f\x8b\x00`,
    `GET / HTTP/1.1\r\nHost: ${host}\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: ${host}\r\n${'A: b\r\n'.repeat(3_000)}\r\n`,
    `GET / HTTP/1.1\r\nHost: ${host}\r\nOrigin: \u0000\r\nConnection: close\r\n\r\n`,
    `POST / HTTP/1.1\r\nHost: ${host}\r\nOrigin: not a url\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    '\r\n\r\n\r\n',
    '{"json": true}',
  ]
  const random = randomBytes(seed)
  return [
    ...lines.map((line) => Buffer.from(`${line}\r\n${ends}`, 'latin1')),
    ...whole.map((request) => Buffer.from(request, 'latin1')),
    ...Array.from({ length: 40 }, () =>
      Buffer.concat([random(1 + (random(1)[0]! % 200)), Buffer.from('\r\n\r\n')]),
    ),
    // What begins as a request should, and goes on as it should not.
    ...Array.from({ length: 40 }, () =>
      Buffer.concat([Buffer.from('GET /'), random(40), Buffer.from(` HTTP/1.1\r\n${ends}`)]),
    ),
  ]
}

/** Bytes that one seed gives again (mulberry32, a generator in the public domain). */
function randomBytes(seed: number): (count: number) => Buffer {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  return (count) => Buffer.from(Array.from({ length: count }, () => next() & 0xff))
}

/** Sends bytes to a service and returns what it answered until the connection was closed, by it or after `quietMs` of silence. */
export function sendRaw(url: string, bytes: Buffer, quietMs = 300): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const answer: Buffer[] = []
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    const done = () => {
      socket.destroy()
      resolve(Buffer.concat(answer).toString('latin1'))
    }
    socket.setTimeout(quietMs, done)
    socket.on('data', (chunk) => answer.push(chunk))
    socket.on('close', done)
    // A reset is an answer as good as another.
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNREFUSED' ? reject(error) : done(),
    )
  })
}

/** Sends every hostile request to a service; returns those that were not refused, or after which it did not live. */
export async function survived(url: string, seed?: number): Promise<readonly string[]> {
  const { host } = new URL(url)
  const wrong: string[] = []
  for (const request of hostileRequests(host, seed)) {
    const answer = await sendRaw(url, request)
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 400)
    // A path that exists by chance is answered, and what is no page of the service is refused.
    const isFine = status < 500 || status === 503 || status === 501 || status === 505
    const { status: live } = await fetch(new URL('/livez', url)).catch(() => ({ status: 0 }))
    if (!isFine || live !== 200)
      wrong.push(`${JSON.stringify(request.toString('latin1').slice(0, 80))}: ${status}, then ${live}`)
    if (/\bat \S+ \(|node_modules|\/etc\/passwd|elsewhere\.example/.test(answer))
      wrong.push(`says too much: ${answer.slice(0, 300)}`)
  }
  return wrong
}
