import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { openRegulations, regulationsSettings, type RegulationsOptions } from './regulations.ts'
import { startStandIn, type StandIn, type StandInOptions } from './stand-in.ts'
import { UpstreamError } from '@keyspec-systems/program/upstream'

let standIn: StandIn

beforeAll(async () => {
  standIn = await startStandIn()
})

afterAll(() => standIn.close())

describe('a client of regulations.gov', () => {
  test('counts what there is of each kind', async () => {
    const { regulations } = client()
    expect(await regulations.total('dockets')).toBe(60)
    expect(await regulations.total('documents')).toBe(200)
    expect(await regulations.total('comments')).toBe(600)
  })

  test('fetches a record in full with the files that belong to it', async () => {
    const { regulations } = client()
    const comment = standIn.records.find((record) => record.kind === 'comments' && record.files.length > 0)!
    const item = await regulations.fetchItem(`${standIn.url}/comments/${comment.id}?include=attachments`)
    expect(item).toMatchObject({ kind: 'comments', id: comment.id, docketId: comment.docketId })
    expect(item.files.map(({ format }) => format)).toEqual(comment.files.map(({ format }) => format))
    expect(item.json).toMatchObject({ data: { attributes: { comment: comment.text } } })
    const document = standIn.records.find((record) => record.kind === 'documents' && record.files.length > 0)!
    const content = await regulations.fetchItem(`${standIn.url}/documents/${document.id}`)
    expect(content.files[0]?.url).toMatch(/\/content\.(?:pdf|htm)$/)
  })

  test('downloads a file of the size that was announced', async () => {
    const { regulations } = client()
    const item = await regulations.fetchItem(withFile())
    const bytes = await regulations.download(item.files[0]!.url, size)
    expect(bytes).toBe(item.files[0]?.size)
  })

  test('begins a download again when it breaks off, and gives the whole file', async () => {
    const { regulations, waits } = client()
    const { files } = await regulations.fetchItem(withFile())
    standIn.fail({ fault: 'cut', path: '/downloads', times: 2 })
    expect(await regulations.download(files[0]!.url, size)).toBe(files[0]?.size)
    expect(waits).toHaveLength(2)
  })

  test('stops a download that grows over its bound', async () => {
    const { regulations, waits } = client({ maxFileBytes: 100 })
    const { files } = await regulations.fetchItem(withFile())
    const error = await failure(regulations.download(files[0]!.url, size))
    expect(error).toMatchObject({ reason: 'too-large', isFinal: true })
    expect(waits).toEqual([])
  })

  test('stops a download of unknown length at its bound too', async () => {
    await using endless = await serve((response) => {
      const more = () => response.write(Buffer.alloc(65_536), (error) => (error ? undefined : more()))
      more()
    })
    const { regulations } = client({ maxFileBytes: 1_000_000, mayBePrivate: () => true })
    let taken = 0
    const error = await failure(
      regulations.download(`${endless.url}/file.pdf`, async (body) => {
        for await (const chunk of body) taken += chunk.length
      }),
    )
    expect(error.reason).toBe('too-large')
    expect(taken).toBeLessThanOrEqual(1_000_000)
  })

  test('leaves an error of the one who takes the file as it is, without another try', async () => {
    const { regulations, waits } = client()
    const { files } = await regulations.fetchItem(withFile())
    const full = new Error('no space left on device')
    const taking = regulations.download(files[0]!.url, async () => {
      throw full
    })
    await expect(taking).rejects.toBe(full)
    expect(waits).toEqual([])
  })

  test('reads no file of the private network, by name, by address or behind a redirect', async () => {
    let asked = 0
    await using secret = await serve((response) => {
      asked += 1
      response.end('secret')
    })
    const { port } = new URL(secret.url)
    const { regulations } = client({ attempts: 1 })
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433'])
      expect(await failure(regulations.download(`http://${host}:${port}/`, size))).toMatchObject({
        reason: 'refused',
        isFinal: true,
      })
    await using bait = await serve((response) => response.writeHead(302, { Location: secret.url }).end())
    const open = client({
      attempts: 1,
      mayBePrivate: ({ origin }) => origin === new URL(bait.url).origin,
    }).regulations
    expect(await failure(open.download(`${bait.url}/file.pdf`, size))).toMatchObject({ reason: 'refused' })
    expect(asked).toBe(0)
  })

  test('sends no API key along with a download', async () => {
    let sent: unknown = 'nothing asked'
    await using elsewhere = await serve((response, headers) => {
      sent = headers['x-api-key']
      response.end('file')
    })
    await client({ mayBePrivate: () => true }).regulations.download(`${elsewhere.url}/file.txt`, size)
    expect(sent).toBeUndefined()
  })

  test('keeps the hourly limit as the last answer gave it', async () => {
    await using other = await ownStandIn({ rateLimit: 10 })
    const { regulations } = client({ baseUrl: other.standIn.url })
    expect(regulations.rate()).toBeUndefined()
    await regulations.total('dockets')
    expect(regulations.rate()).toEqual({ limit: 10, remaining: 9 })
  })
})

describe('a call that fails in passing', () => {
  test.each(['unavailable', 'garbage', 'cut'] as const)('is tried again: %s', async (fault) => {
    const { regulations, waits } = client({ random: () => 1 })
    standIn.fail({ fault, times: 3 })
    expect(await regulations.total('dockets')).toBe(60)
    // The longest waits that full jitter allows: each twice the one before.
    expect(waits).toEqual([500, 1000, 2000])
  })

  test('is tried again when it takes too long', async () => {
    const { regulations, waits } = client({ timeoutMs: 100 })
    standIn.fail({ fault: 'silent' })
    expect(await regulations.total('dockets')).toBe(60)
    expect(waits).toHaveLength(1)
  })

  test('waits a random part of the back-off', async () => {
    const { regulations, waits } = client({ random: () => 0.25, backoffMs: 100, maxBackoffMs: 150 })
    standIn.fail({ fault: 'unavailable', times: 3 })
    await regulations.total('dockets')
    expect(waits).toEqual([25, 37.5, 37.5])
  })

  test('waits as long as Retry-After asks', async () => {
    const { regulations, waits } = client({ random: () => 0 })
    standIn.fail({ fault: 'limited', retryAfterSeconds: 7 })
    await regulations.total('dockets')
    expect(waits).toEqual([7000])
  })

  test('reads a Retry-After that is a date', async () => {
    const now = Date.UTC(2026, 0, 1, 12)
    const answers = [
      { status: 429, headers: { 'retry-after': new Date(now + 3000).toUTCString() }, body: '' },
      { status: 200, headers: {}, body: JSON.stringify({ data: [], meta: { ...emptyMeta } }) },
    ]
    await using server = await serve((response) => {
      const { status, headers, body } = answers.shift()!
      response.writeHead(status, headers).end(body)
    })
    const { regulations, waits } = client({ baseUrl: server.url, random: () => 0, now: () => now })
    expect(await regulations.total('dockets')).toBe(0)
    expect(waits).toEqual([3000])
  })

  test('is not waited for beyond the longest Retry-After, which the error then tells', async () => {
    const { regulations, waits } = client()
    standIn.fail({ fault: 'limited', retryAfterSeconds: 3600 })
    const error = await failure(regulations.total('dockets'))
    expect(error).toMatchObject({ reason: 'limited', status: 429, retryAfterMs: 3_600_000, isFinal: false })
    expect(error.message).toContain('OVER_RATE_LIMIT')
    expect(waits).toEqual([])
  })

  test('fails for good after the last try', async () => {
    const { regulations, waits } = client({ attempts: 3 })
    standIn.fail({ fault: 'unavailable', times: 3 })
    expect(await failure(regulations.total('dockets'))).toMatchObject({ reason: 'unavailable', status: 500 })
    expect(waits).toHaveLength(2)
  })

  test('names the host when nothing listens there', async () => {
    const gone = await startStandIn({ dockets: 1, documents: 0, comments: 0 })
    await gone.close()
    const { regulations } = client({ baseUrl: gone.url, attempts: 2 })
    const error = await failure(regulations.total('dockets'))
    expect(error).toMatchObject({ reason: 'unreachable', isFinal: false })
    expect(error.message).toContain(`the connection to ${new URL(gone.url).host} failed`)
  })

  test('ends at once when the caller gives up', async () => {
    const { regulations, waits } = client()
    standIn.fail({ fault: 'silent' })
    const stop = new AbortController()
    const asked = regulations.total('dockets', stop.signal)
    stop.abort(new Error('the program is stopping'))
    await expect(asked).rejects.toThrow('the program is stopping')
    expect(waits).toEqual([])
    await startedAnew()
  })

  test('is spaced from the one before by the least interval', async () => {
    let nowMs = 0
    const { regulations, waits } = client({ minIntervalMs: 3600, now: () => nowMs })
    await regulations.total('dockets')
    nowMs = 1000
    await regulations.total('dockets')
    await regulations.total('dockets')
    expect(waits).toEqual([2600, 6200])
  })
})

describe('a call that fails for good', () => {
  test('is not tried again for a record that is gone, and its job is invalid', async () => {
    const { regulations, waits } = client()
    const missing = standIn.records.find(({ isMissing }) => isMissing)!
    const error = await failure(regulations.fetchItem(`${standIn.url}/comments/${missing.id}`))
    expect(error).toMatchObject({ reason: 'missing', status: 404, isFinal: true })
    expect(error.message).toContain(missing.id)
    expect(waits).toEqual([])
  })

  test('says which setting to check when the key is wrong, and never shows the key', async () => {
    const { regulations, waits } = client({ apiKey: 'secret-0123456789' })
    const error = await failure(regulations.total('dockets'))
    expect(error).toMatchObject({ reason: 'credentials', status: 403, isFinal: false })
    expect(error.message).toContain('API_KEY_INVALID')
    expect(error.message).toContain('check REGULATIONS_API_KEY')
    expect(JSON.stringify(error) + error.message + error.stack).not.toContain('secret-0123456789')
    expect(waits).toEqual([])
  })

  test('hides a key that stands in a URL or in an answer', async () => {
    await using server = await serve((response) => {
      response
        .writeHead(400)
        .end(JSON.stringify({ errors: [{ title: 'Bad', detail: 'key my-own-key is bad' }] }))
    })
    const { regulations } = client({ baseUrl: server.url, apiKey: 'my-own-key' })
    const error = await failure(regulations.fetchItem(`${server.url}/dockets/X-1?api_key=my-own-key`))
    expect(error.message).toContain('Bad: key … is bad')
    expect(error.message + error.url).not.toContain('my-own-key')
  })

  test('sends the key to no other address than the API', async () => {
    const { regulations } = client()
    for (const url of [
      'https://example.org/v4/dockets/X-1',
      `${standIn.url}.evil/dockets/X-1`,
      'X-1',
      `${standIn.url}/../x`,
    ]) {
      expect(await failure(regulations.fetchItem(url))).toMatchObject({ reason: 'refused', isFinal: true })
    }
    for (const url of ['file:///etc/passwd', 'nonsense']) {
      expect(await failure(regulations.download(url, size))).toMatchObject({ reason: 'refused' })
    }
  })

  test('follows no redirect, which would take the key along', async () => {
    let asked = 0
    await using server = await serve((response) => {
      asked += 1
      response.writeHead(302, { Location: standIn.url }).end()
    })
    const error = await failure(client({ baseUrl: server.url }).regulations.total('dockets'))
    expect(error).toMatchObject({ reason: 'refused', status: 302 })
    expect(asked).toBe(1)
  })

  test.each([
    ['{"data":{}}', 'data'],
    ['{"data":[],"meta":{}}', 'meta.hasNextPage'],
    [
      JSON.stringify({ data: [{ id: 'X-1', type: 'dockets', attributes: {} }], meta: {} }),
      'lastModifiedDate',
    ],
    ['null', 'the answer'],
  ])('names the place where %s is not of the shape it should be', async (body, where) => {
    await using server = await serve((response) => response.end(body))
    const { regulations, waits } = client({ baseUrl: server.url })
    const error = await failure(regulations.total('dockets'))
    expect(error.reason).toBe('unreadable')
    expect(error.message).toContain(where)
    expect(waits).toEqual([])
  })

  test('shows the beginning of an answer that stays other than JSON', async () => {
    const { regulations } = client({ attempts: 2 })
    standIn.fail({ fault: 'garbage', times: 2 })
    const error = await failure(regulations.total('dockets'))
    expect(error.reason).toBe('unreadable')
    expect(error.message).toContain('Down for maintenance')
  })

  test('reads a record whose files are withheld', async () => {
    const attributes = { agencyId: 'EPA', docketId: null, fileFormats: 'null' }
    const included = [
      { attributes: { fileFormats: null } },
      { attributes: { fileFormats: [{ format: 'pdf' }] } },
    ]
    await using server = await serve((response) =>
      response.end(JSON.stringify({ data: { id: 'EPA-1-2', type: 'comments', attributes }, included })),
    )
    const item = await client({ baseUrl: server.url }).regulations.fetchItem(`${server.url}/comments/EPA-1-2`)
    expect(item).toMatchObject({ docketId: undefined, files: [] })
  })
})

describe('settings', () => {
  test('come from the environment', () => {
    const env = { REGULATIONS_API_KEY: ' k ', REGULATIONS_BASE_URL: 'http://127.0.0.1:1/v4' }
    expect(regulationsSettings(env)).toEqual({ apiKey: 'k', baseUrl: 'http://127.0.0.1:1/v4' })
    expect(openRegulations(regulationsSettings({ REGULATIONS_API_KEY: 'k' })).baseUrl).toBe(
      'https://api.regulations.gov/v4',
    )
  })

  test('say what is missing or wrong', () => {
    expect(() => regulationsSettings({})).toThrow('REGULATIONS_API_KEY is not set')
    expect(() => openRegulations({ apiKey: 'a b' })).toThrow('API key')
    expect(() => openRegulations({ apiKey: 'k', baseUrl: 'ftp://x' })).toThrow(
      'REGULATIONS_BASE_URL is "ftp://x"',
    )
    expect(() => openRegulations({ apiKey: 'k', pageSize: 251 })).toThrow('5 to 250')
  })
})

const emptyMeta = { hasNextPage: false, pageNumber: 1, pageSize: 5, totalElements: 0 }

function client(options: Partial<RegulationsOptions> = {}) {
  const waits: number[] = []
  const sleep = async (ms: number) => void waits.push(ms)
  return {
    regulations: openRegulations({ apiKey: 'DEMO_KEY', baseUrl: standIn.url, sleep, ...options }),
    waits,
  }
}

function withFile(): string {
  const record = standIn.records.find(({ kind, files }) => kind === 'comments' && files.length > 0)!
  return `${standIn.url}/comments/${record.id}?include=attachments`
}

async function size(body: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0
  for await (const chunk of body) bytes += chunk.length
  return bytes
}

async function failure(promise: Promise<unknown>): Promise<UpstreamError> {
  const error = await promise.then(
    () => new Error('it should have failed'),
    (reason: unknown) => reason,
  )
  if (error instanceof UpstreamError) return error
  throw error
}

// The planned fault may still be waiting when its request never left: the next test must not meet it.
async function startedAnew(): Promise<void> {
  await standIn.close()
  standIn = await startStandIn()
}

async function ownStandIn(options: StandInOptions) {
  const own = await startStandIn({ dockets: 1, documents: 0, comments: 0, ...options })
  return { standIn: own, [Symbol.asyncDispose]: () => own.close() }
}

type Respond = (response: ServerResponse, headers: IncomingHttpHeaders) => unknown

async function serve(respond: Respond) {
  const server = createServer((request, response) => void respond(response, request.headers))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v4`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
