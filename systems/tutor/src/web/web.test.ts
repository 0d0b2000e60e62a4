import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

import * as v from 'valibot'
import { afterAll, afterEach, describe, expect, test } from 'vitest'

import { openReader } from '../reading/reader.ts'
import { sample } from '../resource/sample.ts'
import { WebPage } from '../shape/cached.ts'
import { decodeText } from './decode.ts'
import { extractHtml } from './extract.ts'
import { normaliseUrl } from './normalise-url.ts'
import { readPage } from './read-page.ts'

const html = { 'Content-Type': 'text/html; charset=utf-8' }
let server: Server | undefined

afterEach(() => {
  server?.close()
  server?.closeAllConnections()
  server = undefined
})

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener)
  await new Promise<void>((resolve) => void server!.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const reader = openReader()
afterAll(() => reader.close())

const local = { reader, pages: { allowPrivate: true } }

describe('a page', () => {
  test('is read over HTTP, without menu, script and footer, under its normalised address', async () => {
    const base = await serve((_request, response) =>
      response.writeHead(200, html).end(sample('tide-mills.html')),
    )
    const page = await readPage(`${base}/mills?utm_source=x#top`, local)
    expect(v.parse(WebPage, page)).toEqual(page)
    expect(page).toMatchObject({
      url: `${base}/mills`,
      title: expect.stringContaining('The tide mills of Quill Bay'),
    })
    expect(page.content).toContain('was built in 1623 by Ada Ferrow')
    expect(page.content).toContain('How the first mill was built')
    expect(page.content.split('\n\n').length).toBeGreaterThan(5)
    expect(page.content).not.toMatch(/Plan your visit|Cookies|window\.visits|display: flex/)
  })

  test('is followed through redirects, and decompressed', async () => {
    const base = await serve((request, response) => {
      if (request.url === '/old') response.writeHead(301, { Location: '/new' }).end()
      else
        response
          .writeHead(200, { ...html, 'Content-Encoding': 'gzip' })
          .end(gzipSync(sample('salt-roads.html')))
    })
    expect((await readPage(`${base}/old`, local)).content).toContain('Marta Oduya')
  })

  test('may be plain text or Markdown, whose first line is the title', async () => {
    const base = await serve((_request, response) =>
      response.writeHead(200, { 'Content-Type': 'text/markdown' }).end(sample('lantern-revolt.md')),
    )
    expect(await readPage(base, local)).toMatchObject({ title: 'The Lantern Revolt of 1804' })
  })

  const faults: [string, RequestListener, string][] = [
    ['says no', (_, response) => response.writeHead(404).end(), 'status'],
    ['redirects for ever', (_, response) => response.writeHead(302, { Location: '/' }).end(), 'status'],
    [
      'is an image',
      (_, response) => response.writeHead(200, { 'Content-Type': 'image/png' }).end('x'),
      'unsupported',
    ],
    ['says nothing', (_, response) => response.writeHead(200, html).end('<p> </p>'), 'empty'],
    ['is too large', (_, response) => response.writeHead(200, html).end('x'.repeat(60_000)), 'too-large'],
    [
      'is too large once unpacked',
      (_, response) =>
        response.writeHead(200, { ...html, 'Content-Encoding': 'gzip' }).end(gzipSync('x'.repeat(60_000))),
      'too-large',
    ],
    [
      'breaks off',
      (_, response) => {
        response.writeHead(200, { ...html, 'Content-Length': 1000 })
        response.write('<p>half', () => response.destroy())
      },
      'unreachable',
    ],
    [
      'is not what its encoding says',
      (_, response) => response.writeHead(200, { ...html, 'Content-Encoding': 'gzip' }).end('not packed'),
      'unreachable',
    ],
  ]
  test.each(faults)('that %s is an error that says so', async (_case, listener, reason) => {
    const base = await serve(listener)
    await expect(
      readPage(base, { reader, pages: { allowPrivate: true, maxBytes: 50_000 } }),
    ).rejects.toMatchObject({
      code: 'E_PAGE',
      reason,
    })
  })

  test('that does not come in time is given up', async () => {
    const base = await serve(() => {})
    await expect(
      readPage(base, { reader, pages: { allowPrivate: true, timeoutMs: 50 } }),
    ).rejects.toMatchObject({ reason: 'timed-out' })
  })

  test('is left when the caller has gone', async () => {
    const base = await serve(() => {})
    const reading = readPage(base, local, AbortSignal.abort(new Error('gone')))
    await expect(reading).rejects.toThrow('gone')
  })
})

describe('the private network', () => {
  test('is not read, whether named by address or by host name, nor by a redirect', async () => {
    let requests = 0
    const base = await serve((_request, response) => {
      requests += 1
      response.writeHead(200, html).end('secret')
    })
    const { port } = new URL(base)
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1']) {
      await expect(readPage(`http://${host}:${port}/`, { reader })).rejects.toMatchObject({
        reason: 'refused',
      })
    }
    expect(requests).toBe(0)
  })

  test('is refused after a redirect to another scheme', async () => {
    const base = await serve((_request, response) =>
      response.writeHead(302, { Location: 'file:///etc/passwd' }).end(),
    )
    await expect(readPage(base, local)).rejects.toMatchObject({ reason: 'refused' })
  })
})

describe('an address', () => {
  test.each([
    ['HTTPS://Example.COM:443/A/../b', 'https://example.com/b'],
    ['http://example.com:80', 'http://example.com/'],
    ['http://example.com:8080/', 'http://example.com:8080/'],
    ['https://example.com/a#part', 'https://example.com/a'],
    ['https://example.com/a?b=2&a=1', 'https://example.com/a?a=1&b=2'],
    ['https://example.com/a?utm_source=x&UTM_Medium=y&id=1&gclid=z', 'https://example.com/a?id=1'],
    ['https://example.com/a?utm_source=x', 'https://example.com/a'],
    ['https://example.com/a?', 'https://example.com/a'],
    ['https://me:secret@example.com/', 'https://example.com/'],
    ['  https://bücher.example/ä ', 'https://xn--bcher-kva.example/%C3%A4'],
    ['https://example.com/a/', 'https://example.com/a/'],
  ])('%s is kept as %s', (written, kept) => {
    expect(normaliseUrl(written)).toBe(kept)
    expect(normaliseUrl(kept)).toBe(kept)
  })

  test.each(['example.com', '', 'ftp://example.com/', 'javascript:alert(1)', 'http://'])(
    '"%s" is refused',
    (text) => {
      expect(() => normaliseUrl(text)).toThrow(expect.objectContaining({ code: 'E_URL' }))
    },
  )
})

test('a page without an article keeps its words', () => {
  expect(extractHtml('<h1>Hi</h1><p>one</p><ul><li>two<li>three</ul>').content).toMatch(/one\n\ntwo\n\nthree/)
})

test('text is decoded by its header, by its meta element, or as UTF-8', () => {
  const latin = Buffer.from('<meta charset="iso-8859-1"><p>caf\xe9</p>', 'latin1')
  expect(decodeText(latin, 'text/html')).toContain('café')
  expect(decodeText(Buffer.from('caf\xe9', 'latin1'), 'text/plain; charset=ISO-8859-1')).toBe('café')
  expect(decodeText(Buffer.from('café'), 'text/plain; charset=martian')).toBe('café')
})
