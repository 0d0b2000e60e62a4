import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { eventually } from 'keyspec/testing'
import { afterEach, expect, test } from 'vitest'
import { type ReaderPool, readerPool, type ReaderPoolOptions } from './reader-pool.ts'

const FIXTURE = join(import.meta.dirname, '../../fixture/reader-main.js')
const MiB = 1024 * 1024

/** What the fixture can be asked for. */
type Fixture = {
  echo(value: unknown): unknown
  count(most: number): AsyncIterable<number>
  thenSpin(first: number): AsyncIterable<number>
  spin(): never
  swell(): never
  pileUp(): never
  die(): never
  throws(): never
  refuses(): never
  about(): { readonly pid: number; readonly env: readonly string[] }
}

const open: ReaderPool<Fixture>[] = []
afterEach(() => open.splice(0).forEach((pool) => pool.close()))

function pool(options: ReaderPoolOptions = {}): ReaderPool<Fixture> {
  const made = readerPool<Fixture>(FIXTURE, { processes: 1, ...options })
  open.push(made)
  return made
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('values and bytes travel both ways, and one process reads one document after another', async () => {
  const readers = pool()
  const first = await readers.read('about', [])
  expect(await readers.read('echo', [{ bytes: Buffer.from([0, 255]), list: [1, undefined] }])).toEqual({
    bytes: Buffer.from([0, 255]),
    list: [1, undefined],
  })
  expect((await readers.read('about', [])).pid).toBe(first.pid)
  expect(first.pid).not.toBe(process.pid)
})

test('a reader has nothing of this program’s environment', async () => {
  process.env['KEYSPEC_TEST_SECRET'] = 'x'
  try {
    expect((await pool().read('about', [])).env).not.toContain('KEYSPEC_TEST_SECRET')
  } finally {
    delete process.env['KEYSPEC_TEST_SECRET']
  }
})

test('items come one after another, and who leaves early leaves the process to the next', async () => {
  const readers = pool()
  const { pid } = await readers.read('about', [])
  expect(await all(readers.each('count', [3]))).toEqual([1, 2, 3])
  expect(await all(readers.each('count', [0]))).toEqual([])
  for await (const number of readers.each('count', [1_000_000])) if (number === 2) break
  expect((await readers.read('about', [])).pid).toBe(pid)
})

test.each([
  ['spin', { deadlineMs: 300 }, 'took-too-long'],
  ['swell', { maxResidentBytes: 200 * MiB }, 'took-too-much-memory'],
  ['pileUp', { maxResidentBytes: 200 * MiB }, 'took-too-much-memory'],
  ['die', {}, 'parser-failed'],
  ['throws', {}, 'parser-failed'],
  ['refuses', {}, 'encrypted'],
] as const)(
  'a document that makes its parser %s is unreadable, and the next is read',
  async (task, limits, reason) => {
    const readers = pool(limits)
    const { pid } = await readers.read('about', [])
    const error: unknown = await readers.read(task, []).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ name: 'UnreadableError', code: 'E_UNREADABLE', reason })
    expect(String(error)).not.toContain('secret words')
    const isSpared = task === 'throws' || task === 'refuses'
    if (!isSpared) await eventually(() => expect(isAlive(pid)).toBe(false))
    expect(await readers.read('echo', ['next'])).toBe('next')
  },
)

test('the deadline counts the work of the process, not that of whoever takes the items', async () => {
  const readers = pool({ deadlineMs: 500 })
  const seen: number[] = []
  for await (const number of readers.each('count', [3])) {
    seen.push(number)
    await new Promise((resolve) => setTimeout(resolve, 400))
  }
  expect(seen).toEqual([1, 2, 3])
  const items = readers.each('thenSpin', [1], { deadlineMs: 200 })
  expect(await items.next()).toEqual({ done: false, value: 1 })
  await expect(items.next()).rejects.toMatchObject({ reason: 'took-too-long' })
})

test('an abort ends what is read and what waits, with its reason', async () => {
  const readers = pool()
  const { pid } = await readers.read('about', [])
  const stop = new AbortController()
  const read = readers.read('spin', [], { signal: stop.signal })
  const waits = readers.read('echo', [1], { signal: stop.signal })
  const both = Promise.allSettled([read, waits])
  await new Promise((resolve) => setTimeout(resolve, 50))
  stop.abort(new Error('gone'))
  expect(await both).toMatchObject([{ reason: { message: 'gone' } }, { reason: { message: 'gone' } }])
  await eventually(() => expect(isAlive(pid)).toBe(false))
  await expect(readers.read('echo', [1], { signal: stop.signal })).rejects.toThrow('gone')
  expect(await readers.read('echo', [2])).toBe(2)
})

test('so many read at once, so many wait, and one more is told so', async () => {
  const readers = pool({ processes: 2, waiting: 1, deadlineMs: 2_000 })
  const reading = [readers.read('spin', []), readers.read('spin', []), readers.read('echo', ['third'])]
  const ends = Promise.allSettled(reading)
  await expect(readers.read('echo', [4])).rejects.toMatchObject({ code: 'E_NO_READER' })
  expect(await ends).toMatchObject([
    { reason: { reason: 'took-too-long' } },
    { reason: { reason: 'took-too-long' } },
    { value: 'third' },
  ])
})

test('a process that cannot be started is not the document’s fault', async () => {
  const readers = readerPool(join(import.meta.dirname, 'no-such-module.js'))
  await expect(readers.read('echo', [])).rejects.toMatchObject({ code: 'E_NO_READER' })
})

test('a process that has kept much memory, or has nothing to do, is ended', async () => {
  const large = pool({ maxResidentBytes: 60 * MiB })
  const first = await large.read('about', [])
  expect((await large.read('about', [])).pid).not.toBe(first.pid)

  const idle = pool({ idleMs: 20 })
  const { pid } = await idle.read('about', [])
  await eventually(() => expect(isAlive(pid)).toBe(false))
})

test('closing ends what is read, and its process', async () => {
  const readers = pool()
  const { pid } = await readers.read('about', [])
  const read = readers.read('spin', [])
  const end = read.catch((error: unknown) => error)
  await new Promise((resolve) => setTimeout(resolve, 50))
  readers.close()
  expect(await end).toMatchObject({ code: 'E_UNREADABLE' })
  await eventually(() => expect(isAlive(pid)).toBe(false))
})

test('a reader that is in an endless loop ends with the program that it reads for', async () => {
  const program = fork(join(import.meta.dirname, '../../fixture/dying-program.js'), [FIXTURE], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [{ pid }] = (await once(program, 'message')) as [{ pid: number }]
  expect(isAlive(pid)).toBe(true)
  program.kill('SIGKILL')
  await eventually(() => expect(isAlive(pid)).toBe(false))
})
