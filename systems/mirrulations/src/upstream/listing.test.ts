import * as fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'

import { ListAnswer } from './answer.ts'
import { invent } from './invented-record.ts'
import { listing, type Page } from './listing.ts'
import { openRegulations } from './regulations.ts'
import { startStandIn, type StandInOptions } from './stand-in.ts'
import { listAnswer } from './stand-in-answer.ts'
import { select, type RepeatedHour } from './stand-in-query.ts'
import { formatUtc, parseUtc } from './timestamp.ts'
import { UpstreamError } from '@keyspec-systems/program/upstream'

describe('a listing of everything modified since a watermark', () => {
  test('gives every record once, oldest first, with a watermark that never moves back', async () => {
    await using world = await openWorld()
    for (const kind of ['dockets', 'documents', 'comments'] as const) {
      const pages = await collect(world.regulations.pages(kind))
      const items = pages.flatMap((page) => page.items)
      const expected = world.standIn.records.filter((record) => record.kind === kind)
      expect(items.map(({ id }) => id).toSorted()).toEqual(expected.map(({ id }) => id).toSorted())
      expect(items.map((item) => item.lastModified)).toEqual(
        items.map((item) => item.lastModified).toSorted(),
      )
      const watermarks = pages.map((page) => page.watermark)
      expect(watermarks).toEqual(watermarks.toSorted())
      expect(watermarks.at(-1)).toBe(items.at(-1)?.lastModified)
    }
  })

  test('says where each record is in full, with its agency', async () => {
    await using world = await openWorld({ dockets: 1, documents: 1, comments: 1, attachments: 0 })
    const [docket] = (await collect(world.regulations.pages('dockets'))).flatMap((page) => page.items)
    const [comment] = (await collect(world.regulations.pages('comments'))).flatMap((page) => page.items)
    expect(docket).toMatchObject({
      url: `${world.standIn.url}/dockets/EPA-HQ-OAR-2023-9001`,
      agencyId: 'EPA',
      docketId: 'EPA-HQ-OAR-2023-9001',
    })
    expect(comment).toMatchObject({
      url: `${world.standIn.url}/comments/EPA-HQ-OAR-2023-9001-0002?include=attachments`,
      agencyId: 'EPA',
      docketId: undefined,
    })
  })

  test('ends at once, without a page, where nothing is newer', async () => {
    await using world = await openWorld({ dockets: 3, documents: 0, comments: 0 })
    expect(await collect(world.regulations.pages('dockets', '2031-01-01 00:00:00'))).toEqual([])
  })

  test('refuses a watermark of another form before it asks', async () => {
    await using world = await openWorld({ dockets: 3, documents: 0, comments: 0 })
    await expect(collect(world.regulations.pages('dockets', 'yesterday'))).rejects.toThrow(
      'YYYY-MM-DD HH:MM:SS',
    )
    expect(world.standIn.requests()).toBe(0)
  })

  test.each(['first', 'second'] as const)(
    'misses nothing from any watermark, whatever shares a moment, when a repeated hour means the %s one',
    async (repeatedHour) => {
      // Moments crowd together around the change of clocks, and a page of 5 makes the ceiling 100 records.
      const moment = fc.integer({ min: -3, max: 8 }).map((step) => changeMs + step * 900_000)
      const crowd = fc.array(fc.tuple(moment, fc.integer({ min: 1, max: 40 })), { maxLength: 5 })
      await fc.assert(
        fc.asyncProperty(crowd, fc.option(moment, { nil: undefined }), async (crowds, sinceMs) => {
          const moments = crowds.flatMap(([atMs, count]) => Array.from({ length: count }, () => atMs))
          const since = sinceMs === undefined ? undefined : formatUtc(sinceMs)
          const list = inMemory(moments, repeatedHour)
          const items = (await collect(listing({ ...list, since }))).flatMap((page) => page.items)
          const ids = items.map(({ id }) => id)
          expect(new Set(ids).size).toBe(ids.length)
          const due = list.records
            .filter(({ modifiedMs }) => modifiedMs >= (sinceMs ?? 0))
            .map(({ id }) => id)
          expect(due.filter((id) => !ids.includes(id))).toEqual([])
        }),
        { numRuns: 150 },
      )
    },
  )

  test('reads a moment that holds more than the ceiling from both ends', async () => {
    await using world = await openWorld(oneMoment(180), { pageSize: 5 })
    const pages = await collect(world.regulations.pages('dockets'))
    expect(new Set(pages.flatMap((page) => page.items.map(({ id }) => id))).size).toBe(180)
  })

  test('says so, instead of leaving records out, when a moment holds more than can be listed', async () => {
    await using world = await openWorld(oneMoment(201), { pageSize: 5 })
    const failure = await collect(world.regulations.pages('dockets')).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(UpstreamError)
    expect(failure).toMatchObject({ reason: 'ceiling' })
    expect(String(failure)).toContain('201 dockets were modified at 2024-11-02 08:00:00 Eastern time')
  })

  test('passes the real ceiling of 5,000', async () => {
    const startMs = parseUtc('2024-06-01 00:00:00')
    const options = { dockets: 5_600, documents: 0, comments: 0, attachments: 0 }
    await using world = await openWorld({
      ...options,
      modifiedMs: (_, index) => startMs + (index >> 9) * 1000,
    })
    const pages = await collect(world.regulations.pages('dockets'))
    expect(new Set(pages.flatMap((page) => page.items.map(({ id }) => id))).size).toBe(5_600)
  })

  test('misses nothing when records are modified while it is read', async () => {
    const startMs = parseUtc('2024-06-01 00:00:00')
    const options = { dockets: 100, documents: 0, comments: 0, attachments: 0 }
    const modifiedMs = (_: string, index: number) => startMs + index * 1000
    await using world = await openWorld({ ...options, modifiedMs }, { pageSize: 10 })
    const [first, second] = world.standIn.records.map(({ id }) => id) as [string, string]
    const seen: string[] = []
    for await (const page of world.regulations.pages('dockets')) {
      seen.push(...page.items.map(({ id }) => id))
      // Both leave the pages that were read already, so all that follows moves up by two places.
      if (seen.length === 10) {
        world.standIn.modify(first, '2024-06-02 00:00:00')
        world.standIn.modify(second, '2024-06-02 00:00:00')
      }
    }
    expect(new Set(seen).size).toBe(100)
    expect(seen.filter((id) => id === first)).toHaveLength(2)
  })

  test('goes on from the watermark of any page, as after a kill', async () => {
    await using world = await openWorld({}, { pageSize: 50 })
    const seen = new Set<string>()
    let watermark: string | undefined
    let before: string | undefined
    do {
      before = watermark
      const { value } = await world.regulations.pages('comments', watermark).next()
      const page = value as Page
      for (const { id } of page.items) seen.add(id)
      watermark = page.watermark
    } while (watermark !== before)
    expect(seen.size).toBe(600)
  })

  test('fails with the page that cannot be had, after those that could', async () => {
    await using world = await openWorld({}, { pageSize: 50, attempts: 1 })
    const pages = world.regulations.pages('comments')
    expect((await pages.next()).value).toMatchObject({ total: 600 })
    world.standIn.fail({ fault: 'unavailable' })
    await expect(pages.next()).rejects.toMatchObject({ reason: 'unavailable', status: 500 })
  })
})

// 06:00 UTC on 3 November 2024: Eastern clocks go from 2 back to 1.
const changeMs = parseUtc('2024-11-03 06:00:00')

const oneMoment = (dockets: number): StandInOptions => {
  const atMs = parseUtc('2024-11-02 12:00:00')
  return { dockets, documents: 0, comments: 0, attachments: 0, modifiedMs: () => atMs }
}

async function openWorld(
  options: StandInOptions = {},
  client: { pageSize?: number; attempts?: number } = {},
) {
  const standIn = await startStandIn(options)
  const regulations = openRegulations({ apiKey: 'DEMO_KEY', baseUrl: standIn.url, ...client })
  return { standIn, regulations, [Symbol.asyncDispose]: () => standIn.close() }
}

// The stand-in's own filtering and sorting without HTTP between: the property asks for it thousands of times.
function inMemory(moments: readonly number[], repeatedHour: RepeatedHour) {
  const options = { dockets: moments.length, documents: 0, comments: 0, attachments: 0 }
  const records = invent({ ...options, modifiedMs: (_, index) => moments[index] as number })
  const sorted = new Map()
  const list = async (query: Readonly<Record<string, string>>): Promise<ListAnswer> => {
    const selected = select('dockets', records, sorted, new URLSearchParams(query), repeatedHour)
    if ('problem' in selected) throw new Error(selected.problem)
    return v.parse(ListAnswer, listAnswer(selected, 'http://in.memory/v4'))
  }
  return { kind: 'dockets', baseUrl: 'http://in.memory/v4', pageSize: 5, list, records } as const
}

async function collect(pages: AsyncIterable<Page>): Promise<Page[]> {
  const all: Page[] = []
  for await (const page of pages) all.push(page)
  return all
}
