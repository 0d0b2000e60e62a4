import { readdirSync, readFileSync } from 'node:fs'
import { audit, cleanupKeys, erase, selectKeys, stats, exportKeys } from '@keyspec/inspect'
import { string, text } from 'keyspec'
import { expect, test, vi } from 'vitest'
import { connected } from '../../../../test-support/connected.ts'
import { paint } from './paint.ts'
import { watch, watchChange } from './watch.ts'

const { redis, connection } = await connected()
const schema = { page: string('page:<id>', text, { ttl: '1h' }) }
const KEYS = 300
const how = { maxLoad: 0.9, count: 50 } as const

async function fill(): Promise<void> {
  const lua = `for at = 1, ${KEYS} do redis.call('SET', 'page:' .. at, 'x', 'EX', '900') end`
  await redis.command('EVAL', lua, '0')
}

/** A log that shows every line of progress. */
function shown() {
  const lines: string[] = []
  const done = vi.fn<() => void>()
  const stopping = new AbortController()
  const log = {
    paint: paint({ write: () => true, once: () => {} }, {}),
    say: () => {},
    progress: (line: () => string) => void lines.push(line()),
    done,
  }
  return { call: { log, signal: stopping.signal }, lines, done, stopping }
}

test('progress is how many keys of how many, the rate and the time left', async () => {
  await fill()
  const { call, lines, done } = shown()
  const { keys } = await watch(call, audit(schema, connection, how), { done: 'looked at' })
  expect(keys).toBe(KEYS)
  for (const line of lines)
    expect(line).toMatch(/^\d+ of 300 keys \(\d+%\), [\d,]+\/s, \S+ \S+ left looked at$/)
  expect(lines.at(-1)).toMatch(/^300 of 300 keys \(100%\)/)
  expect(done).toHaveBeenCalledOnce()
})

test('where nobody knows how many keys there are, progress is how many were done', async () => {
  await fill()
  const { call, lines } = shown()
  await watch(call, stats(schema, connection, { ...how, exact: true, entries: ['page'] }))
  expect(lines.length).toBeGreaterThan(1)
  for (const line of lines) expect(line).toMatch(/^\d+ keys$/)
  expect(lines.at(-1)).toBe('300 keys')
})

test('a change counts what it changed, of what its preview found', async () => {
  await fill()
  const { call, lines } = shown()
  const stopped = vi.fn<() => void>()
  const erased = await watchChange(call, erase(schema, connection, how), {
    doing: 'erased',
    of: { total: KEYS, count: ({ keys }) => keys },
    stopped,
  })
  expect(erased).toMatchObject({ keys: KEYS })
  expect(lines.at(-1)).toMatch(/^erased 300 of 300 keys \(100%\)/)
  expect(stopped).not.toHaveBeenCalled()
})

test('a change that the user stops has no result, and tells what it did', async () => {
  await fill()
  const { call, done, stopping } = shown()
  const stopped = vi.fn<(soFar: { keys: number } | undefined) => void>()
  const erased = await watchChange(call, erase(schema, connection, { ...how, signal: stopping.signal }), {
    each: () => stopping.abort(),
    stopped,
  })
  expect(erased).toBeUndefined()
  const left = Number(await redis.command('DBSIZE'))
  expect(left).toBeGreaterThan(0)
  expect(stopped.mock.calls).toEqual([[expect.objectContaining({ keys: KEYS - left })]])
  expect(done).toHaveBeenCalledOnce()
})

test('a change that fails tells what it did, and why it failed', async () => {
  await fill()
  const { call, done } = shown()
  const stopped = vi.fn<() => void>()
  const full = new Error('the disk is full')
  const exporting = exportKeys(connection, selectKeys(schema), { schema, keyspec: '0', ...how })
  const watching = watchChange(call, exporting, { each: () => Promise.reject(full), stopped })
  await expect(watching).rejects.toBe(full)
  expect(stopped).toHaveBeenCalledOnce()
  expect(done).toHaveBeenCalledOnce()
  await expect(exporting).rejects.toMatchObject({ code: 'E_STOPPED' })
})

test('a step is awaited before the next is made', async () => {
  await fill()
  const { call } = shown()
  const overlaps: boolean[] = []
  let isBusy = false
  await watch(call, cleanupKeys(schema, connection, how), {
    async each() {
      overlaps.push(isBusy)
      isBusy = true
      await new Promise((resolve) => setImmediate(resolve))
      isBusy = false
    },
  })
  expect(overlaps.length).toBeGreaterThan(1)
  expect(overlaps).not.toContain(true)
})

test('no command shows progress of its own', () => {
  const folder = new URL('../', import.meta.url)
  const showing = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) =>
      name.endsWith('.ts') &&
      !name.endsWith('.test.ts') &&
      readFileSync(new URL(name, folder), 'utf8').includes('.progress('),
  )
  expect(showing).toEqual(['terminal/watch.ts'])
})
