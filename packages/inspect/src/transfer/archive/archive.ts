import { KeyspecError } from 'keyspec'

/** The version of the format that is written; others are refused. */
export const FORMAT_VERSION = 1

/** What an export says of itself before its first key. */
export interface ArchiveHeader {
  /** When it was begun, in ms since the epoch. */
  readonly createdAtMs: number
  /** The version of Keyspec that wrote it. */
  readonly keyspec: string
  /** What the server called itself: `Redis 7.0.15`. */
  readonly server: string
  /** The version of the first key's DUMP payload: older servers cannot restore it. None where there is no key. */
  readonly dumpVersion?: number
  /** What was chosen, in words. */
  readonly title: string
  /** The keyspace's prefix, which all keys begin with. */
  readonly prefix: string
  /** The entries of the schema: records name theirs by its place here. */
  readonly entries: readonly string[]
  /** Tells one schema from another; see `fingerprint`. */
  readonly schema: string
}

/** One key of an export. */
export interface ArchiveRecord {
  readonly key: Buffer
  /** What TYPE says. */
  readonly type: string
  /** The entry that owned it, if one did. */
  readonly entry: string | undefined
  /** When it expires, in ms since the epoch, or `undefined` where it never does. */
  readonly expiresAtMs: number | undefined
  /** What DUMP says: the value, in the server's own form. */
  readonly dump: Buffer
}

/**
 * Why a file cannot be read: it is no export at all, its format is of a newer Keyspec, it ends before its end, or its
 * bytes are not those that were written.
 */
export type ArchiveFault = 'foreign' | 'newer' | 'truncated' | 'damaged'

/** A file that is not a whole export. */
export class ArchiveError extends KeyspecError {
  readonly code = 'E_ARCHIVE'
  readonly fault: ArchiveFault

  constructor(fault: ArchiveFault, message: string, cause?: unknown) {
    super(message, undefined, cause)
    this.fault = fault
  }
}

/** The version that a DUMP payload carries: two bytes before its checksum. */
export function dumpVersionOf(dump: Buffer): number {
  return dump.readUInt16LE(dump.length - 10)
}
