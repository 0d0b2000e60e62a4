import { ownFile } from '@keyspec-systems/program'
import { type ReaderPool, readerPool, type ReaderPoolOptions } from '@keyspec-systems/reading'
import type { tasks } from './reader-tasks.ts'

/** Reads files in processes of their own. */
export type Reader = ReaderPool<typeof tasks>

// A client does one job after another.
const LIMITS = { processes: 1, deadlineMs: 30_000 }

/** The process in which files are read; see `readerPool`. */
export function openReader(options: ReaderPoolOptions = {}): Reader {
  return readerPool(ownFile(import.meta.url, 'program/client/reading/reading-main.js'), {
    ...LIMITS,
    ...options,
  })
}
