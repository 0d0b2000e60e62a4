import { connect } from 'node:net'
import { eventually } from 'keyspec/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { sendRaw, survived } from '../../../../test-support/hostile-http.ts'
import { httpService, jsonIn, type Listening, Problem, type ServiceOptions } from './index.ts'

async function serving(
  options: Partial<ServiceOptions> = {},
): Promise<Listening & { readonly host: string }> {
  const service = httpService({
    routes: {
      'GET /things/:id': async ({ param, query }) => ({ body: { id: param('id'), q: query.get('q') } }),
      'POST /things': async (call) => ({ status: 201, body: await call.json(100) }),
      'PUT /raw': async (call) => ({ body: (await call.bytes(100)).length }),
    },
    log: () => {},
    ...options,
  })
  const listening = await service.listen()
  onTestFinished(() => listening.close())
  return { ...listening, host: new URL(listening.url).host }
}

const ask = (url: string, method: string, headers: Record<string, string> = {}, body?: string) =>
  fetch(url, { method, headers, ...(body === undefined ? {} : { body }) })

test('a route answers JSON, and what it is given was decoded', async () => {
  const { url } = await serving()
  const response = await fetch(`${url}/things/a%20b?q=%C3%A9`)
  expect([response.status, await response.json()]).toEqual([200, { id: 'a b', q: 'é' }])
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
})

test.each([1, 2, 3])('no request ends it, by seed %i', async (seed) => {
  const { url } = await serving()
  expect(await survived(url, seed)).toEqual([])
})

test('a request that may not come in is refused before its body is read', async () => {
  const { url, host } = await serving()
  const big = 'Content-Length: 1000000000\r\nContent-Type: application/json\r\n\r\n'
  const refusedAs = async (head: string) => (await sendRaw(url, Buffer.from(`${head}${big}`))).slice(9, 12)
  expect(await refusedAs('POST /things HTTP/1.1\r\nHost: rebound.example\r\n')).toBe('421')
  expect(await refusedAs(`POST /things HTTP/1.1\r\nHost: ${host}\r\nOrigin: https://evil.example\r\n`)).toBe(
    '403',
  )
  expect(await refusedAs(`POST /things HTTP/1.1\r\nHost: ${host}\r\nOrigin: null\r\n`)).toBe('403')
  expect(await refusedAs(`POST /things HTTP/1.1\r\nHost: ${host}\r\nSec-Fetch-Site: cross-site\r\n`)).toBe(
    '403',
  )
  expect(await refusedAs(`POST /things HTTP/1.1\r\nHost: ${host}\r\n`)).toBe('413')
  expect(await refusedAs(`POST /nothing HTTP/1.1\r\nHost: ${host}\r\n`)).toBe('404')
  expect(await refusedAs(`PUT /things HTTP/1.1\r\nHost: ${host}\r\n`)).toBe('405')
})

test('a GET that changes something is refused to a page of another site, and no other GET is', async () => {
  const { url } = await serving({
    routes: {
      'GET /next': async () => ({ body: 1 }),
      'GET /look': async () => ({ body: 1 }),
    },
    changing: ['GET /next'],
  })
  const elsewhere = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }
  // A browser sends what `fetch` of Node does not let a program say.
  const head = Object.entries(elsewhere).map(([name, value]) => `${name}: ${value}\r\n`)
  const statusOf = async (method: string, path: string, more = '') => {
    const request = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`
    return (await sendRaw(url, Buffer.from(request))).slice(9, 12)
  }
  expect(await statusOf('GET', '/next')).toBe('200')
  expect(await statusOf('GET', '/next', head.join(''))).toBe('403')
  expect(await statusOf('HEAD', '/next', head.join(''))).toBe('403')
  expect(await statusOf('GET', '/%6eext', head.join(''))).toBe('403')
  expect(await statusOf('GET', '/next', 'Origin: https://evil.example\r\n')).toBe('403')
  expect(await statusOf('GET', '/look', head.join(''))).toBe('200')
})

test.each([
  ['a Host that is none', '400', 'GET /things/1 HTTP/1.1\r\nHost: [\r\n\r\n'],
  ['a port that is none', '400', 'GET /things/1 HTTP/1.1\r\nHost: localhost:99999\r\n\r\n'],
  ['no Host', '400', 'GET /things/1 HTTP/1.1\r\n\r\n'],
  ['a backslash', '400', 'GET /things\\1 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['a star', '400', 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['an address of elsewhere', '400', 'GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  [
    'two lengths',
    '400',
    'PUT /raw HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
  ],
  [
    'a length and chunks',
    '400',
    'PUT /raw HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n',
  ],
  ['bytes', '400', '\x00\xff\r\n\r\n'],
  ['headers without end', '431', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`],
  ['a method for /livez that it has not', '405', 'POST /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['a method for /readyz that it has not', '405', 'DELETE /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n'],
])('a request with %s is refused by a problem document, %s', async (_, status, request) => {
  const { url } = await serving()
  const answer = await sendRaw(url, Buffer.from(request, 'latin1'))
  expect(answer.slice(9, 12)).toBe(status)
  expect(answer).toMatch(/^cache-control: no-store\r$/im)
  expect(answer).toMatch(/^x-content-type-options: nosniff\r$/im)
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ status: Number(status) })
})

test('an expectation that nobody knows is ignored', async () => {
  const { url } = await serving()
  const request = 'PUT /raw HTTP/1.1\r\nHost: localhost\r\nExpect: more\r\nContent-Length: 3\r\n\r\nabc'
  expect(await sendRaw(url, Buffer.from(request))).toMatch(/^HTTP\/1\.1 200/)
})

test('an answer that cannot be written is a failure of its route', async () => {
  const log = vi.fn<(line: string) => void>()
  const answered = vi.fn<(answer: { route: string; status: number }) => void>()
  const { url } = await serving({
    log,
    answered,
    routes: {
      'GET /number/:id': async () => ({ body: 1n }),
      'GET /header/:id': async (call) => {
        call.setHeader('X-Is', 'a\nb')
        return { body: 1 }
      },
    },
  })
  for (const name of ['number', 'header']) {
    const response = await fetch(`${url}/${name}/canary`)
    expect([response.status, await response.json()]).toMatchObject([500, { detail: 'The service failed' }])
    expect(response.headers.get('cache-control')).toBe('no-store')
  }
  const lines = log.mock.calls.map(([line]) => line.split(': ')[0])
  expect(lines).toEqual(['GET /number/:id', 'GET /header/:id'])
  expect(answered.mock.calls.map(([{ route, status }]) => [route, status])).toEqual([
    ['/number/:id', 500],
    ['/header/:id', 500],
  ])
})

test('an application that is mounted answers with the same headers, and without the words of an error', async () => {
  const log = vi.fn<(line: string) => void>()
  const { url } = await serving({
    log,
    mount: (app) => {
      app.get('/page', (context) => context.text('page', 200, { 'Cache-Control': 'max-age=5' }))
      app.get('/other', (context) => context.text('other'))
      app.get('/fails', () => {
        throw new Error('secret')
      })
    },
  })
  const page = await fetch(`${url}/page`)
  expect([page.headers.get('cache-control'), page.headers.get('x-content-type-options')]).toEqual([
    'max-age=5',
    'nosniff',
  ])
  const other = await fetch(`${url}/other`)
  expect([other.headers.get('cache-control'), await other.text()]).toEqual(['no-store', 'other'])
  const failed = await fetch(`${url}/fails`)
  expect([failed.status, await failed.text()]).toEqual([500, expect.not.stringContaining('secret')])
  expect(log).toHaveBeenCalledOnce()
})

test('its own page may post, under every name that it has', async () => {
  const { url, host } = await serving({ hosts: ['tutor.example'] })
  const json = { 'Content-Type': 'application/json' }
  expect((await ask(`${url}/things`, 'POST', { ...json, Origin: `http://${host}` }, '{}')).status).toBe(201)
  const named = (name: string) =>
    sendRaw(url, Buffer.from(`GET /things/1 HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`))
  for (const name of ['tutor.example', 'TUTOR.example:80', 'localhost', '[::1]:1'])
    expect(await named(name), name).toMatch(/^HTTP\/1\.1 200/)
  for (const name of ['tutor.example.evil', 'evil.tutor.example', '127.0.0.1.example', ''])
    expect(await named(name), name).toMatch(/^HTTP\/1\.1 4/)
})

test('a body is as long as it may be, whatever it says, and of the type that it must be', async () => {
  const { url, host } = await serving()
  const type = { 'Content-Type': 'application/json' }
  expect((await ask(`${url}/things`, 'POST', type, `{"a":"${'x'.repeat(80)}"}`)).status).toBe(201)
  expect((await ask(`${url}/things`, 'POST', type, `{"a":"${'x'.repeat(100)}"}`)).status).toBe(413)
  expect((await ask(`${url}/things`, 'POST', type, '{')).status).toBe(400)
  expect(
    (await ask(`${url}/things`, 'POST', { 'Content-Type': 'application/problem+json' }, '[1]')).status,
  ).toBe(201)
  for (const other of ['text/plain', 'application/jsonp', 'application/x-www-form-urlencoded'])
    expect((await ask(`${url}/things`, 'POST', { 'Content-Type': other }, '{}')).status, other).toBe(415)
  // Of a body in chunks nobody knows the length before.
  const head = `PUT /raw HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n`
  const chunks = `64\r\n${'x'.repeat(100)}\r\n1\r\ny\r\n0\r\n\r\n`
  expect(await sendRaw(url, Buffer.from(head + chunks))).toMatch(/^HTTP\/1\.1 413/)
})

test.each([
  ['[', ']'],
  ['{"a":', '}'],
])('JSON is 200 deep at most: %s', (opening, closing) => {
  const text = (depth: number) => Buffer.from(`${opening.repeat(depth)}0${closing.repeat(depth)}`)
  expect(() => jsonIn(text(200))).not.toThrow()
  expect(() => jsonIn(text(201))).toThrow(expect.objectContaining({ status: 400 }))
  // What would overflow the stack of whoever writes it again.
  expect(() => jsonIn(text(1_000_000))).toThrow('JSON is 200 deep at most here')
  // What stands beside each other is not deep, nor what stands in a text.
  expect(() => jsonIn(Buffer.from(`[${Array.from({ length: 300 }, () => '[]').join()}]`))).not.toThrow()
  expect(jsonIn(Buffer.from(JSON.stringify([`"\\${opening.repeat(300)}`])))).toHaveLength(1)
})

test('a request that never arrives whole is given up', async () => {
  const { url, host } = await serving({ arrivalMs: 500 })
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  const closed = vi.fn<() => void>()
  socket
    .on('error', () => {})
    .on('close', closed)
    .resume()
  socket.write(`PUT /raw HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 50\r\n\r\nhalf`)
  await eventually(() => expect(closed).toHaveBeenCalled(), { within: '10s' })
})

test('it takes as much on as it can work on, and says so to the others', async () => {
  let go = () => {}
  const held = new Promise<void>((resolve) => (go = resolve))
  let begun = 0
  const { url } = await serving({
    concurrency: 2,
    routes: {
      'GET /slow': async () => {
        begun += 1
        await held
        return { body: 'done' }
      },
    },
  })
  const first = [fetch(`${url}/slow`), fetch(`${url}/slow`)]
  await eventually(() => expect(begun).toBe(2))
  const third = await fetch(`${url}/slow`)
  expect([third.status, third.headers.get('retry-after')]).toEqual([503, '1'])
  expect((await fetch(`${url}/livez`)).status).toBe(200)
  go()
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200])
  expect((await fetch(`${url}/slow`)).status).toBe(200)
})

test('it is ready while it can work, and live in any case', async () => {
  let isAway = false
  const { url } = await serving({
    ready: async () => {
      if (isAway) throw new Error('Redis is away at 10.1.2.3')
    },
  })
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  isAway = true
  const response = await fetch(`${url}/readyz`)
  expect([response.status, await response.text()]).toEqual([503, expect.not.stringContaining('10.1.2.3')])
  expect((await fetch(`${url}/livez`)).status).toBe(200)
})

test('a failure is a problem document that says nothing of its insides, and is logged once', async () => {
  const log = vi.fn<(line: string) => void>()
  const { url } = await serving({
    log,
    routes: {
      'GET /fails/:id': async () => {
        throw new Error('secret')
      },
      'GET /refuses': async () => {
        throw new Problem(409, 'It is taken', { headers: { 'Retry-After': '7' }, more: { by: 'a' } })
      },
    },
  })
  const failed = await fetch(`${url}/fails/canary`)
  expect([failed.status, failed.headers.get('content-type')]).toEqual([
    500,
    'application/problem+json; charset=utf-8',
  ])
  expect(await failed.json()).toEqual({
    type: 'about:blank',
    title: 'Internal Server Error',
    status: 500,
    detail: 'The service failed',
  })
  expect(log.mock.calls).toEqual([['GET /fails/:id: The service failed: secret']])
  const refused = await fetch(`${url}/refuses`)
  expect(refused.headers.get('retry-after')).toBe('7')
  expect(await refused.json()).toMatchObject({
    status: 409,
    title: 'Conflict',
    detail: 'It is taken',
    by: 'a',
  })
  const allowed = await ask(`${url}/refuses`, 'DELETE')
  expect([allowed.status, allowed.headers.get('allow')]).toEqual([405, 'GET'])
  expect(log).toHaveBeenCalledOnce()
})

test('closing lets what was asked be answered, and ends connections that are kept alive', async () => {
  let go = () => {}
  const held = new Promise<void>((resolve) => (go = resolve))
  let begun = false
  const service = await httpService({
    routes: {
      'GET /slow': async () => {
        begun = true
        await held
        return { body: 'done' }
      },
    },
  }).listen()
  const asked = fetch(`${service.url}/slow`)
  await eventually(() => expect(begun).toBe(true))
  const closed = service.close()
  await eventually(() => expect(fetch(`${service.url}/livez`)).rejects.toThrow())
  go()
  const response = await asked
  expect([response.status, response.headers.get('connection')]).toEqual([200, 'close'])
  await closed
})
