import { ownFile } from '@keyspec-systems/program'
import { type ReaderPool, readerPool, type ReaderPoolOptions } from '@keyspec-systems/reading'

import type { tasks } from './reader-tasks.ts'

/** Reads documents in processes of their own. */
export type DocumentReader = ReaderPool<typeof tasks>

// Pages are read one after another, pictures as large as a sheet at 600 dpi among them. Names take the longest to find:
// about a minute in a book.
const LIMITS = { deadlineMs: 300_000, maxResidentBytes: 1024 * 1024 * 1024 }

/** The processes in which documents are read; see `readerPool`. */
export function openReader(options: ReaderPoolOptions = {}): DocumentReader {
  return readerPool(ownFile(import.meta.url, 'program/pipeline/reading-main.js'), { ...LIMITS, ...options })
}
