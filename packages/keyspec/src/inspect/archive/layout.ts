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

/** One record: its length, its fields, their checksum. */
export function encodeRecord(record: ArchiveRecord, entries: readonly string[]): Buffer[] {
  const type = Buffer.from(record.type)
  const fields = Buffer.alloc(FIXED + type.length + record.key.length)
  const length = fields.length - 4 + record.dump.length
  fields.writeUInt32BE(length, 0)
  fields.writeUInt16BE(record.entry === undefined ? 0 : entries.indexOf(record.entry) + 1, 4)
  fields.writeBigUInt64BE(BigInt(record.expiresAtMs ?? 0), 6)
  fields.writeUInt8(type.length, 14)
  fields.writeUInt32BE(record.key.length, 15)
  type.copy(fields, FIXED)
  record.key.copy(fields, FIXED + type.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(record.dump, crc32(fields)))
  return [fields, record.dump, sum]
}

/** The records of a frame; throws a `RangeError` where they are not laid out as they must be. */
export function* decodeRecords(bytes: Buffer, entries: readonly string[]): Generator<ArchiveRecord> {
  for (let at = 0; at < bytes.length;) {
    const end = at + 4 + bytes.readUInt32BE(at)
    if (crc32(bytes.subarray(at, end)) !== bytes.readUInt32BE(end))
      throw new RangeError('a record is not what its checksum says')
    const entry = bytes.readUInt16BE(at + 4)
    const expiresAtMs = Number(bytes.readBigUInt64BE(at + 6))
    const typeAt = at + FIXED
    const keyAt = typeAt + bytes.readUInt8(at + 14)
    const dumpAt = keyAt + bytes.readUInt32BE(at + 15)
    if (dumpAt > end || entry > entries.length) throw new RangeError('a record does not fit')
    yield {
      key: bytes.subarray(keyAt, dumpAt),
      type: bytes.toString('latin1', typeAt, keyAt),
      entry: entry === 0 ? undefined : entries[entry - 1],
      expiresAtMs: expiresAtMs === 0 ? undefined : expiresAtMs,
      dump: bytes.subarray(dumpAt, end),
    }
    at = end + 4
  }
}

// Length, entry, expiry, length of the type, length of the key.
const FIXED = 4 + 2 + 8 + 1 + 4
