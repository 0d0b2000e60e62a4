import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { eventually } from 'keyspec/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { guardedFetch, isPrivate, RefusedAddressError } from './index.ts'

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const mayBePrivate = () => true

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test.each([
  ['0.0.0.0', 'this host'],
  ['10.1.2.3', 'private'],
  ['100.64.0.1', 'shared by carriers'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['169.254.169.254', 'link-local, where clouds keep their credentials'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.0.0.1', 'protocol assignments'],
  ['192.0.2.1', 'documentation'],
  ['192.31.196.1', 'the blackhole of AS112'],
  ['192.52.193.1', 'multicast tunnels'],
  ['192.88.99.1', '6to4 relays'],
  ['192.168.0.1', 'private'],
  ['192.175.48.1', 'the blackhole of AS112'],
  ['198.18.0.1', 'benchmarks'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['::127.0.0.1', 'IPv4-compatible'],
  ['::ffff:127.0.0.1', 'IPv4-mapped'],
  ['::ffff:7f00:1', 'IPv4-mapped, in hexadecimal'],
  ['::ffff:0:127.0.0.1', 'IPv4-translated'],
  ['64:ff9b::7f00:1', 'NAT64 of a loopback address'],
  ['64:ff9b::10.0.0.1', 'NAT64 of a private address'],
  ['64:ff9b:1::1', 'NAT64 of a local network'],
  ['100::1', 'discarded'],
  ['100:0:0:1::1', 'a dummy prefix'],
  ['2001::1', 'Teredo'],
  ['2001:db8::1', 'documentation'],
  ['2002:7f00:1::', '6to4 of a loopback address'],
  ['2620:4f:8000::1', 'the blackhole of AS112'],
  ['3fff::1', 'documentation'],
  ['fc00::1', 'unique local'],
  ['fd00::1', 'unique local'],
  ['fe80::1', 'link-local'],
  ['fec0::1', 'site-local'],
  ['ff02::1', 'multicast'],
  ['localhost', 'no address at all'],
])('%s is not on the public internet: %s', (address) => {
  expect(isPrivate(address)).toBe(true)
})

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '93.184.216.34',
  '172.32.0.1',
  '192.167.255.255',
  '2606:2800:220:1::1',
  '2001:4860:4860::8888',
  '64:ff9b::8.8.8.8',
])('%s is', (address) => {
  expect(isPrivate(address)).toBe(false)
})

test('the private network is not asked, by whatever name', async () => {
  let asked = 0
  const { port } = new URL(
    await serve((_, response) => {
      asked += 1
      response.end('secret')
    }),
  )
  for (const host of [
    '127.0.0.1',
    'localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '2130706433',
    '0x7f.1',
    '0177.1',
    '127.1',
  ])
    await expect(guardedFetch(`http://${host}:${port}/`), host).rejects.toThrow(RefusedAddressError)
  for (const url of ['file:///etc/passwd', 'ftp://example.org/', 'gopher://127.0.0.1/', 'nothing'])
    await expect(guardedFetch(url), url).rejects.toThrow(RefusedAddressError)
  expect(asked).toBe(0)
})

test('each redirect is checked anew', async () => {
  let asked = 0
  const secret = await serve((_, response) => {
    asked += 1
    response.end('secret')
  })
  const targets = [secret, 'file:///etc/passwd', 'http://[', '//']
  for (const target of targets) {
    const bait = await serve((_, response) => response.writeHead(302, { Location: target }).end())
    const following = guardedFetch(bait, { mayBePrivate: ({ origin }) => origin === bait })
    await expect(following, target).rejects.toThrow(RefusedAddressError)
  }
  const circle = await serve((_, response) => response.writeHead(302, { Location: '/' }).end())
  await expect(guardedFetch(circle, { mayBePrivate, maxRedirects: 3 })).rejects.toThrow(
    'redirects more than 3 times',
  )
  expect(asked).toBe(0)
})

test('a redirect to another origin gets no credentials', async () => {
  const asked: unknown[][] = []
  const note: RequestListener = ({ headers, url }, response) => {
    asked.push([url, headers.authorization, headers.cookie, headers['x-is']])
    response.end()
  }
  const elsewhere = await serve(note)
  const base = await serve((request, response) => {
    if (request.url === '/near') return note(request, response)
    const Location = request.url === '/' ? '/near' : `${elsewhere}/far`
    response.writeHead(302, { Location }).end()
  })
  const headers = { authorization: 'secret', Cookie: 'a=b', 'X-Is': 'a test' }
  for (const path of ['/', '/away'])
    (await guardedFetch(base + path, { mayBePrivate, headers })).body.resume()
  expect(asked).toEqual([
    ['/near', 'secret', 'a=b', 'a test'],
    ['/far', undefined, undefined, 'a test'],
  ])
})

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const)(
  'a body in %s is unpacked piece by piece, so that its reader can bound it',
  async (encoding, pack) => {
    const base = await serve((request, response) => {
      expect(request.headers['accept-encoding']).toContain(encoding)
      response
        .writeHead(200, { 'Content-Encoding': encoding, 'X-Is': 'a test' })
        .end(pack(Buffer.alloc(64_000_000)))
    })
    const { body, headers, status } = await guardedFetch(base, { mayBePrivate })
    expect([status, headers.get('x-is'), headers.get('content-encoding')]).toEqual([200, 'a test', null])
    let bytes = 0
    for await (const chunk of body) {
      bytes += (chunk as Buffer).length
      if (bytes > 100_000) break
    }
    expect(bytes).toBeLessThan(1_000_000)
  },
)

test('it answers what is there, whatever the status', async () => {
  const base = await serve((request, response) => {
    if (request.url === '/old') response.writeHead(301, { Location: 'new' }).end()
    else response.writeHead(404).end('nothing')
  })
  const { url, status, body } = await guardedFetch(`${base}/old`, { mayBePrivate })
  expect([url, status, await textOf(body)]).toEqual([`${base}/new`, 404, 'nothing'])
})

test('it is given up when the signal says so', async () => {
  const base = await serve(() => {})
  const given = guardedFetch(base, { mayBePrivate, signal: AbortSignal.timeout(50) })
  await expect(given).rejects.toThrow()
})

test('a server that switches protocols is an error, and not silence', async () => {
  const base = await serve((_, response) =>
    response.socket!.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ),
  )
  const given = guardedFetch(base, { mayBePrivate, signal: AbortSignal.timeout(5000) })
  await expect(given).rejects.toThrow('without an answer')
})

test.each([
  ['is not what it says', (): Buffer => Buffer.from('not gzip'), 8],
  ['breaks off', () => gzipSync('x'.repeat(100)).subarray(0, 12), 8000],
] as const)('a packed body that %s fails its reader, however late it begins', async (_, bytes, length) => {
  const uncaught = vi.fn<(error: Error) => void>()
  process.on('uncaughtException', uncaught)
  onTestFinished(() => void process.off('uncaughtException', uncaught))
  const base = await serve((__, response) => {
    response.writeHead(200, { 'Content-Encoding': 'gzip', 'Content-Length': length })
    response.write(bytes(), () => response.socket!.end())
  })
  const { body } = await guardedFetch(base, { mayBePrivate })
  await eventually(() => expect(body.errored).not.toBeNull())
  await expect(textOf(body)).rejects.toThrow()
  expect(uncaught).not.toHaveBeenCalled()
})

test('the signal ends a body that has arrived and is still unpacked', async () => {
  const packed = gzipSync(Buffer.alloc(20_000_000))
  const base = await serve((_, response) =>
    response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(packed),
  )
  const stopping = new AbortController()
  const { body } = await guardedFetch(base, { mayBePrivate, signal: stopping.signal })
  const reading = (async () => {
    for await (const _ of body) {
      await pause(20)
      stopping.abort()
    }
  })()
  await expect(reading).rejects.toThrow('abort')
})
