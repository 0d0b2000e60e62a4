import {
  type Connection,
  integer,
  type Kind,
  mount,
  open,
  param,
  type Schema,
  SchemaError,
  string,
  text,
} from 'keyspec'
import * as recipes from 'keyspec/recipes'
import { expect, test } from 'vitest'
import { manifest, manifestSchema } from '../index.ts'
import { compareManifests } from './compare.ts'

const day = { ttl: '1d' } as const
const perDay = { per: '1d', limit: 1 } as const
const { cache, fixedWindow, lock, quota, cappedList, swapHash, dedupe } = recipes
const { sequence, slidingWindow, swapSet, watermark, workQueue } = recipes

// Every recipe with the layout of this version. If a recipe keeps its data in another form, its number rises by one, and a
// test runs the form of before beside it.
const layouts: Record<string, readonly [Kind, number]> = {
  cache: [cache('a:<id>', text, day), 2],
  fixedWindow: [fixedWindow('a:<id>', perDay), 1],
  lock: [lock('a:<id>', { ...day, fence: 'b:<id>' }), 1],
  quota: [quota('a:<hour>', { ...day, limit: 1, params: { hour: param.hour } }), 1],
  cappedList: [cappedList('a:<id>', text, { ...day, most: 3 }), 1],
  swapHash: [swapHash('a', text, integer, { ...day, staging: 'b' }), 1],
  dedupe: [dedupe('a:<id>', text, day), 1],
  sequence: [sequence('a:<id>', day), 1],
  slidingWindow: [slidingWindow('a:<id>', perDay), 1],
  swapSet: [swapSet('a', text, { ...day, staging: 'b' }), 1],
  watermark: [watermark('a:<id>', integer, day), 1],
  workQueue: [workQueue('a', text, { lease: '1m' }), 2],
}

test.each(Object.entries(layouts))('%s says its layout', (_, [kind, layout]) => {
  expect(kind.layout).toBe(layout)
})

test('every recipe that is exported is in this table, but those of keys of other programs', () => {
  const makers = Object.entries(recipes).flatMap(([name, value]) =>
    typeof value === 'function' && !/^[A-Z]/.test(name) ? [name] : [],
  )
  expect(makers.filter((name) => !(name in layouts)).toSorted()).toMatchInlineSnapshot(`
    [
      "bullmq",
      "celery",
      "celeryResults",
      "external",
      "rateLimitHeaders",
    ]
  `)
})

/** A schema whose one recipe is at a layout. */
const at = (layout: number | undefined, pattern = 'jobs'): Schema => ({
  jobs: { ...workQueue(pattern, text, { lease: '1m' }), layout } as Kind,
})

const noServer: Connection = {
  client: 'none',
  cluster: false,
  masters: () => Promise.reject(new Error('no I/O')),
  send: () => Promise.reject(new Error('no I/O')),
}
const openBeside = (schema: Schema, beside: Schema, prefix = '') =>
  open(schema, noServer, { prefix, beside: manifest(beside, { prefix: 'prod:' }) })

test.each([
  [1, 1],
  [1, 2],
  [2, 1],
  [3, 2],
  [undefined, 2],
])('open takes layout %i in production beside layout %i', (before, now) => {
  expect(() => openBeside(at(now), at(before))).not.toThrow()
})

test.each([
  [1, 3, 'older'],
  [undefined, 3, 'older'],
  [4, 2, 'newer'],
])('open refuses layout %i in production beside layout %i', (before, now, version) => {
  expect(() => openBeside(at(now), at(before), 'test:')).toThrow(SchemaError)
  expect(() => openBeside(at(now), at(before))).toThrow(
    `jobs ("jobs:waiting") keeps its data in layout ${now}, and the manifest's programs keep it in layout ${before ?? 1} ` +
      `(jobs): only neighbouring layouts may run together; release each layout in between everywhere first, with the ${version} `,
  )
})

test('entries meet by their keys, whatever their paths, placeholders and old names', () => {
  const mounted = { app: mount('app:', { work: at(3, 'q')['jobs']! }) }
  expect(() => openBeside(mounted, at(1, 'app:q'))).toThrow('app.work')
  expect(() => openBeside(mounted, at(1, 'q'))).not.toThrow()
  expect(() => openBeside(at(3, 'q:{<id>}'), at(1, 'q:{<name>}'))).toThrow(SchemaError)
  const renamed = {
    jobs: {
      ...workQueue('new', text, { lease: '1m', renamedFrom: { pattern: 'jobs', phase: 1 } }),
      layout: 3,
    },
  }
  expect(() => openBeside(renamed, at(1))).toThrow(SchemaError)
  // What no recipe keeps has no layout.
  expect(() => openBeside({ a: string('jobs:waiting', text, day) }, at(3))).not.toThrow()
})

const changes = (before: Schema, now: Schema) =>
  compareManifests(manifest(before), manifest(now)).filter(({ code }) => code === 'layout-changed')

test('the manifest holds the layout of a recipe, and of nothing else', () => {
  const { entries } = manifest({ ...at(2), text: string('a', text, day) })
  expect(entries.map(({ entry, layout }) => [entry, layout])).toEqual([
    ['jobs', 2],
    ['text', undefined],
  ])
  expect(entries.map((each) => 'layout' in each)).toEqual([true, false])
  expect(manifestSchema.properties.entries.items.properties.layout).toMatchObject({ type: 'integer' })
})

test.each([
  [1, 2],
  [undefined, 2],
  [3, 2],
])('a change from layout %i to %i is safe, told once for the entry', (before, now) => {
  expect(changes(at(before), at(now))).toEqual([
    expect.objectContaining({
      impact: 'safe',
      entry: 'jobs',
      message: `the data was in layout ${before ?? 1}, is in layout ${now}: programs of both may run together`,
    }),
  ])
})

test.each([
  [1, 3],
  [undefined, 3],
  [3, 1],
])('a change from layout %i to %i breaks what still runs', (before, now) => {
  expect(changes(at(before), at(now))).toEqual([
    expect.objectContaining({
      impact: 'breaks',
      advice: expect.stringContaining('release each layout in between'),
    }),
  ])
})

test('no change of layout is told of data under other names, or of the same layout', () => {
  expect(changes(at(1), at(3, 'others'))).toEqual([])
  expect(changes(at(2), at(2))).toEqual([])
  expect(changes(at(undefined), at(1))).toEqual([])
})
