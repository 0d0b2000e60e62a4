export { NoReaderError, UnreadableError, type UnreadableReason } from './unreadable-error.ts'
export { type ReaderPool, readerPool, type ReaderPoolOptions } from './pool/reader-pool.ts'
