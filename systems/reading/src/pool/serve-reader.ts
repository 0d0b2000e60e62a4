import { Worker } from 'node:worker_threads'
import { UnreadableError } from '../unreadable-error.ts'
import type { FromReader, ReaderLimits, ToReader } from './message.ts'

/** What a reader's process can do: each answers one value, or several, one after another. */
export type Tasks = Readonly<Record<string, (...given: any[]) => unknown>>

// A thread of its own, since a parser may keep the main one busy for ever: it ends the process when that has grown too
// large, and when whoever it reads for is gone. Its text, as bundles know no files beside them.
const WATCH = `
const { workerData: { maxResidentBytes, parent } } = require('node:worker_threads')
setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL')
  if (process.memoryUsage.rss() > maxResidentBytes) process.kill(process.pid, 'SIGTERM')
}, 20)`

/** Makes this process a reader: what `readerPool` starts calls this and nothing else. */
export function serveReader(tasks: Tasks): void {
  const { maxResidentBytes } = JSON.parse(process.argv[2] ?? '{}') as ReaderLimits
  const workerData = { maxResidentBytes, parent: process.ppid }
  new Worker(WATCH, { eval: true, workerData }).unref()
  let items: AsyncIterator<unknown> | undefined

  async function answer(message: ToReader): Promise<FromReader> {
    if (message.ask === 'begin') items = itemsOf(tasks[message.task]!(...message.given))
    if (message.ask === 'leave') await items?.return?.()
    const next = message.ask === 'leave' ? undefined : await items?.next()
    if (next?.done === false) return { said: 'item', item: next.value }
    items = undefined
    return { said: 'end', residentBytes: process.memoryUsage.rss() }
  }

  process.on('message', (message: ToReader) => {
    void answer(message).catch(unreadable).then(say)
  })
  // Whoever it reads for is gone, or needs it no more.
  process.once('disconnect', () => process.exit())
  say({ said: 'ready' })
}

function say(message: FromReader): void {
  process.send!(message)
}

async function* itemsOf(made: unknown): AsyncGenerator {
  const value = await made
  if (isIterable(value)) yield* value
  else yield value
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** What a parser throws may quote the document, so only its name is told. */
function unreadable(error: unknown): FromReader {
  if (error instanceof UnreadableError)
    return { said: 'unreadable', reason: error.reason, message: error.message }
  const name = error instanceof Error ? error.name : typeof error
  return { said: 'unreadable', reason: 'parser-failed', message: `its parser failed with ${name}` }
}
