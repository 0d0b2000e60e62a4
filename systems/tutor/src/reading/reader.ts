import { ownFile } from '@keyspec-systems/program'
import { type ReaderPool, readerPool, type ReaderPoolOptions } from '@keyspec-systems/reading'
import type { tasks } from './reader-tasks.ts'

/** Reads pages and files in processes of their own. */
export type Reader = ReaderPool<typeof tasks>

// Whoever asked waits for the answer.
const LIMITS = { deadlineMs: 10_000 }

/** The processes in which pages and files are read; see `readerPool`. */
export function openReader(options: ReaderPoolOptions = {}): Reader {
  return readerPool(ownFile(import.meta.url, 'program/reading/reading-main.js'), { ...LIMITS, ...options })
}
