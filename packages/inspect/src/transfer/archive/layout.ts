import type { ArchiveRecord } from './archive.ts'
import { crc32 } from './checksum.ts'

// docs/design/archive.md draws this. All numbers are big-endian.

/** What every export begins with; a transfer that rewrites line ends breaks it. */
export const MAGIC = Buffer.from('KEYSPEC\n')

/** The length of magic, version and their checksum: this never changes, whatever the version. */
export const PREAMBLE_LENGTH = 16

/** The length of what stands before a frame's bytes. */
export const HEAD_LENGTH = 17

/** The length of the end mark's bytes: how many records there are, and SHA-256 over all before its frame. */
export const END_LENGTH = 40

/** The frames: one header, any number of records, one end. */
export const FRAME = { header: 0x48, records: 0x52, end: 0x45 } as const

/** What stands before a frame's bytes. */
export interface FrameHead {
  readonly type: number
  /** How many bytes follow. */
  readonly stored: number
  /** How many they are when they are unpacked. */
  readonly raw: number
  readonly crc: number
}

/** The first bytes of an export. */
export function preamble(version: number): Buffer {
  const bytes = Buffer.alloc(PREAMBLE_LENGTH)
  MAGIC.copy(bytes)
  bytes.writeUInt32BE(version, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 12)), 12)
  return bytes
}

/** A frame: its head, and its bytes. */
export function frame(type: number, stored: Buffer, raw = stored.length): Buffer[] {
  const head = Buffer.alloc(HEAD_LENGTH)
  head.writeUInt8(type, 0)
  head.writeUInt32BE(stored.length, 1)
  head.writeUInt32BE(raw, 5)
  head.writeUInt32BE(crc32(stored), 9)
  head.writeUInt32BE(crc32(head.subarray(0, 13)), 13)
  return [head, stored]
}

/** What a frame's head says, or `undefined` where its own checksum says otherwise. */
export function frameHead(head: Buffer): FrameHead | undefined {
  if (crc32(head.subarray(0, 13)) !== head.readUInt32BE(13)) return undefined
  return {
    type: head.readUInt8(0),
    stored: head.readUInt32BE(1),
    raw: head.readUInt32BE(5),
    crc: head.readUInt32BE(9),
  }
}

/** How many bytes a record takes in a frame. */
export function recordLength({ type, key, dump }: ArchiveRecord): number {
  return FIXED + type.length + key.length + dump.length + 4
}

/** Writes one record: its length, its fields, their checksum; gives the place behind it. `entry` counts from 1. */
export function encodeRecord(into: Buffer, from: number, record: ArchiveRecord, entry: number): number {
  const { type, key, dump, expiresAtMs = 0 } = record
  const typeAt = from + FIXED
  const keyAt = typeAt + type.length
  const dumpAt = keyAt + key.length
  const end = dumpAt + dump.length
  into.writeUInt32BE(end - from - 4, from)
  into.writeUInt16BE(entry, from + 4)
  // The halves of a u64: BigInts are slow.
  into.writeUInt32BE(Math.floor(expiresAtMs / 2 ** 32), from + 6)
  into.writeUInt32BE(expiresAtMs % 2 ** 32, from + 10)
  into.writeUInt8(type.length, from + 14)
  into.writeUInt32BE(key.length, from + 15)
  into.write(type, typeAt, 'latin1')
  into.set(key, keyAt)
  into.set(dump, dumpAt)
  return into.writeUInt32BE(crc32(into.subarray(from, end)), end)
}

/** The records of a frame; throws a `RangeError` where they are not laid out as they must be. */
export function decodeRecords(bytes: Buffer, entries: readonly string[]): ArchiveRecord[] {
  const records: ArchiveRecord[] = []
  for (let at = 0; at < bytes.length;) {
    const end = at + 4 + bytes.readUInt32BE(at)
    if (crc32(bytes.subarray(at, end)) !== bytes.readUInt32BE(end))
      throw new RangeError('a record is not what its checksum says')
    const entry = bytes.readUInt16BE(at + 4)
    const expiresAtMs = bytes.readUInt32BE(at + 6) * 2 ** 32 + bytes.readUInt32BE(at + 10)
    const typeAt = at + FIXED
    const keyAt = typeAt + bytes.readUInt8(at + 14)
    const dumpAt = keyAt + bytes.readUInt32BE(at + 15)
    if (end - dumpAt < LEAST_DUMP || entry > entries.length) throw new RangeError('a record does not fit')
    records.push({
      key: bytes.subarray(keyAt, dumpAt),
      type: bytes.toString('latin1', typeAt, keyAt),
      entry: entry === 0 ? undefined : entries[entry - 1],
      expiresAtMs: expiresAtMs === 0 ? undefined : expiresAtMs,
      dump: bytes.subarray(dumpAt, end),
    })
    at = end + 4
  }
  return records
}

// A dump ends in its version and its checksum.
const LEAST_DUMP = 2 + 8

// Length, entry, expiry, length of the type, length of the key.
const FIXED = 4 + 2 + 8 + 1 + 4
