import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { inventedFile } from './invented-file.ts'
import { invent, type InventedRecord } from './invented-record.ts'
import { startStandIn, type StandIn } from './stand-in.ts'

let standIn: StandIn

beforeAll(async () => {
  standIn = await startStandIn()
})

afterAll(() => standIn.close())

describe('the stand-in', () => {
  test('says what it is in its Server header and on its first page', async () => {
    const response = await fetch(new URL('/', standIn.url))
    expect(response.headers.get('server')).toBe('stand-in for regulations.gov')
    const page = await response.text()
    expect(page).toContain('stand-in for regulations.gov')
    expect(page).toContain('Every record here is invented')
  })

  test('refuses a request without a key or with a wrong one as the API gateway does', async () => {
    const missing = await get('/dockets', {})
    expect(missing).toMatchObject({ status: 403, body: { error: { code: 'API_KEY_MISSING' } } })
    const wrong = await get('/dockets', { 'X-Api-Key': 'wrong' })
    expect(wrong).toMatchObject({ status: 403, body: { error: { code: 'API_KEY_INVALID' } } })
    expect((await get('/dockets?api_key=DEMO_KEY', {})).status).toBe(200)
  })

  test('lists 25 records a page with the metadata that the API gives', async () => {
    const { body } = await get('/comments?sort=lastModifiedDate')
    expect(body.data).toHaveLength(25)
    expect(body.data[0]).toMatchObject({
      type: 'comments',
      attributes: { lastModifiedDate: expect.stringMatching(/^2024-11-02T\d\d:\d\d:\d\dZ$/) },
      links: { self: expect.stringContaining(`${standIn.url}/comments/`) },
    })
    expect(body.meta).toEqual({
      hasNextPage: true,
      hasPreviousPage: false,
      numberOfElements: 25,
      pageNumber: 1,
      pageSize: 25,
      totalElements: 600,
      totalPages: 20,
      firstPage: true,
      lastPage: false,
    })
  })

  test('has no page after the 20th, whatever is left', async () => {
    const last = await get('/comments?page[size]=5&page[number]=20')
    expect(last.body.meta).toMatchObject({
      hasNextPage: false,
      lastPage: true,
      totalElements: 600,
      totalPages: 20,
    })
    expect((await get('/comments?page[size]=5&page[number]=21')).status).toBe(400)
  })

  test.each([
    'page[size]=4',
    'page[size]=251',
    'page[number]=0',
    'page[size]=x',
    'sort=colour',
    'filter[colour]=red',
    'filter[lastModifiedDate][ge]=2024-11-02',
    'filter[lastModifiedDate][ge]=2024-11-02T00:00:00Z',
    'filter[postedDate]=2024-11-02 00:00:00',
  ])('answers 400 to %s', async (query) => {
    expect(await get(`/documents?${query}`)).toMatchObject({
      status: 400,
      body: { errors: [{ status: '400' }] },
    })
  })

  test('reads the filter on lastModifiedDate as Eastern time, borders included', async () => {
    const moment = standIn.records.find(({ kind }) => kind === 'documents')!.modifiedMs
    const eastern = new Date(moment - 4 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')
    const expected = standIn.records.filter((each) => each.kind === 'documents' && each.modifiedMs === moment)
    const range = `filter[lastModifiedDate][ge]=${eastern}&filter[lastModifiedDate][le]=${eastern}`
    const { body } = await get(`/documents?${range}`)
    expect(body.meta.totalElements).toBe(expected.length)
  })

  test('filters by agency, docket, type, words and the document commented on', async () => {
    const of = (matches: (record: InventedRecord) => boolean) => standIn.records.filter(matches).length
    const document = standIn.records.find(({ commentOn }) => commentOn !== undefined)!.commentOn!
    expect(await count('/dockets?filter[agencyId]=EPA,FDA')).toBe(
      of(({ kind, agencyId }) => kind === 'dockets' && ['EPA', 'FDA'].includes(agencyId)),
    )
    expect(await count(`/documents?filter[docketId]=${document.docketId}`)).toBe(
      of(({ kind, docketId }) => kind === 'documents' && docketId === document.docketId),
    )
    expect(await count('/documents?filter[documentType]=Proposed Rule')).toBe(
      of(({ kind, type }) => kind === 'documents' && type === 'Proposed Rule'),
    )
    expect(await count(`/comments?filter[commentOnId]=${document.objectId}`)).toBe(
      of(({ commentOn }) => commentOn === document),
    )
    expect(await count(`/documents?filter[searchTerm]=${document.id}`)).toBe(1)
  })

  test('includes attachments only where they are asked for', async () => {
    const { id } = standIn.records.find(({ kind, files }) => kind === 'comments' && files.length > 0)!
    expect((await get(`/comments/${id}`)).body.included).toBeUndefined()
    const [attachment] = (await get(`/comments/${id}?include=attachments`)).body.included
    const [{ fileUrl, size }] = attachment.attributes.fileFormats
    const file = await fetch(fileUrl)
    expect(file.status).toBe(200)
    expect((await file.arrayBuffer()).byteLength).toBe(size)
  })

  test('counts requests against the limit of the key and answers 429 beyond it', async () => {
    const small = await startStandIn({ dockets: 1, documents: 0, comments: 0, rateLimit: 1 })
    const headers = { 'X-Api-Key': 'DEMO_KEY' }
    const first = await fetch(`${small.url}/dockets`, { headers })
    expect(first.headers.get('x-ratelimit-limit')).toBe('1')
    expect(first.headers.get('x-ratelimit-remaining')).toBe('0')
    const second = await fetch(`${small.url}/dockets`, { headers })
    expect(second.status).toBe(429)
    expect(second.headers.get('retry-after')).toBe('3600')
    expect(await second.json()).toMatchObject({ error: { code: 'OVER_RATE_LIMIT' } })
    await small.close()
  })

  test('takes faults over HTTP, for the paths that they name', async () => {
    expect((await plan('{"fault":"unavailable","times":1,"path":"/v4/dockets"}')).status).toBe(200)
    expect((await get('/comments')).status).toBe(200)
    expect((await get('/dockets')).status).toBe(500)
    expect((await get('/dockets')).status).toBe(200)
    expect((await plan('{"fault":"earthquake"}')).status).toBe(400)
    expect((await plan('not JSON')).status).toBe(400)
  })

  test('survives requests that make no sense', async () => {
    expect((await get('/dockets/%E0%A4%A')).status).toBe(400)
    expect((await get('/nothing')).status).toBe(404)
    expect((await fetch(`${standIn.url}/dockets`, { method: 'DELETE' })).status).toBe(405)
    expect((await get('/dockets')).status).toBe(200)
  })
})

describe('the invented records', () => {
  test('are as many as asked for, the same each time, of several agencies', () => {
    const records = invent()
    const ofKind = (kind: string) => records.filter((record) => record.kind === kind).length
    expect([ofKind('dockets'), ofKind('documents'), ofKind('comments')]).toEqual([60, 200, 600])
    expect(records.flatMap(({ files }) => files)).toHaveLength(120)
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length)
    expect(new Set(records.map(({ agencyId }) => agencyId)).size).toBe(8)
    expect(new Set(records.flatMap(({ files }) => files.map(({ format }) => format)))).toEqual(
      new Set(['pdf', 'docx', 'txt', 'htm']),
    )
    expect(records.filter(({ isMissing }) => isMissing)).toHaveLength(1)
    expect(invent()).toEqual(records)
    expect(invent({ seed: 1 })).not.toEqual(records)
  })

  test('share one moment across the border of a page, and some fall into the hour that comes twice', () => {
    const moments = invent()
      .filter(({ kind }) => kind === 'comments')
      .map(({ modifiedMs }) => modifiedMs)
      .toSorted((a, b) => a - b)
    expect(moments[249]).toBe(moments[250])
    expect(moments[499]).toBe(moments[500])
    const repeated = [Date.UTC(2024, 10, 3, 5), Date.UTC(2024, 10, 3, 7)] as const
    expect(moments.filter((atMs) => atMs >= repeated[0] && atMs < repeated[1]).length).toBeGreaterThan(5)
  })

  test('can be many or few', () => {
    expect(invent({ dockets: 2, documents: 5, comments: 5_000, attachments: 9 })).toHaveLength(5_007)
    expect(invent({ dockets: 0, documents: 0, comments: 0 })).toEqual([])
    expect(() => invent({ dockets: 0 })).toThrow('need a docket')
  })
})

describe('the invented files', () => {
  test('are PDFs whose table tells where each object stands', () => {
    const pdf = inventedFile('pdf', ['A title (with brackets)', 'and — a dash']).toString('latin1')
    const start = Number(/startxref\n(\d+)/.exec(pdf)?.[1])
    expect(pdf.slice(start, start + 4)).toBe('xref')
    const offsets = [...pdf.matchAll(/^(\d{10}) 00000 n $/gm)].map((match) => Number(match[1]))
    expect(offsets.map((offset, index) => pdf.slice(offset).startsWith(`${index + 1} 0 obj`))).toEqual(
      offsets.map(() => true),
    )
    const length = Number(/\/Length (\d+)/.exec(pdf)?.[1])
    expect(/stream\n([\s\S]*)\nendstream/.exec(pdf)?.[1]).toHaveLength(length)
  })

  test('are Word files that hold their text', () => {
    const docx = inventedFile('docx', ['Rules & <regulations>'])
    expect(docx.subarray(0, 4)).toEqual(Buffer.from('PK\x03\x04'))
    expect(docx.toString()).toContain('Rules &amp; &lt;regulations&gt;')
    expect(docx.subarray(-22, -18)).toEqual(Buffer.from('PK\x05\x06'))
    expect(docx.readUInt32LE(docx.length - 6)).toBe(docx.indexOf('PK\x01\x02'))
  })
})

async function count(path: string): Promise<number> {
  return (await get(path)).body.meta.totalElements
}

function plan(body: string): Promise<Response> {
  return fetch(new URL('/stand-in/faults', standIn.url), { method: 'POST', body })
}

async function get(path: string, headers: Record<string, string> = { 'X-Api-Key': 'DEMO_KEY' }) {
  const response = await fetch(`${standIn.url}${path}`, { headers })
  // oxlint-disable-next-line typescript/no-explicit-any
  return { status: response.status, body: (await response.json()) as any }
}
