import { rdbReader } from './rdb-reader.ts'
import { Crc64 } from './crc64.ts'
import { choosesByKey, listEncoding, moduleType, stringEncoding } from './encoding.ts'
import { LEAST_OPCODE, OPCODE, PASSED_OVER } from './opcode.ts'
import { head, read, Skipper } from './skipper.ts'
import { SnapshotError } from './snapshot-error.ts'
import type { SnapshotFacts, SnapshotOptions } from './snapshot-facts.ts'
import { SnapshotKey } from './snapshot-key.ts'
import { type Form, STRING, VALKEY_FORMS, VALUE_FORMS } from './value-form.ts'
import type { Window } from './window.ts'

/** What it stopped at: as many keys as are taken at once, the end of its bytes, or that of the snapshot. */
type Stop = 'keys' | 'bytes' | 'end'

/**
 * Reads the RDB format (`rdb.c` of Redis and of Valkey) from pieces of any size. It holds the piece that it reads, what is
 * left of the one before, and of a value no more than is to be kept.
 */
export class SnapshotParser {
  readonly facts: SnapshotFacts = {
    server: undefined,
    format: 0,
    takenAtMs: undefined,
    size: 0,
    expired: 0,
    elsewhere: 0,
    bytes: 0,
  }
  readonly #window: Window = { bytes: Buffer.alloc(0), at: 0, start: 0, missing: MAGIC_BYTES }
  readonly #skipper = new Skipper(this.#window)
  readonly #crc = new Crc64()
  /** How far, in the window, the checksum has been taken. */
  #summed = 0
  readonly #wanted: number
  readonly #valueBytes: number
  readonly #prefix: Buffer
  #forms = VALUE_FORMS
  #keys: SnapshotKey[] = []

  #database = 0
  /** Where, in the whole, the record began that is being read; -1 between records. */
  #began = -1
  #expiresAtMs = -1
  #idleMs: number | undefined

  /** Whether something is being passed over. */
  #skipping = false
  /** The key whose value that is, if it is one that is shown. */
  #pending: SnapshotKey | undefined
  /** Where its value began, in the window; -1 where no more of it is kept. */
  #kept = -1

  constructor({ database = 0, prefix = '', valueBytes = 0 }: SnapshotOptions) {
    this.#wanted = database
    this.#valueBytes = valueBytes
    this.#prefix = Buffer.from(prefix)
  }

  /** How many bytes it needs, at least, to get any further. */
  get missing(): number {
    return this.#window.missing
  }

  /** What follows the snapshot in the bytes given so far. */
  get rest(): Buffer {
    return this.#window.bytes.subarray(this.#window.at)
  }

  /** Takes more bytes, which must not change as long as a key is in use. */
  append(pieces: readonly Uint8Array[]): void {
    const window = this.#window
    this.#sum(window.at)
    const from = this.#kept === -1 ? window.at : this.#kept
    const all = from === window.bytes.length ? pieces : [window.bytes.subarray(from), ...pieces]
    const [first] = all
    window.bytes =
      all.length === 1 ? Buffer.from(first!.buffer, first!.byteOffset, first!.length) : Buffer.concat(all)
    window.start += from
    window.at -= from
    this.#summed -= from
    if (this.#kept !== -1) this.#kept = 0
    for (const piece of pieces) this.facts.bytes += piece.length
  }

  /** The keys found since they were last taken. */
  take(): readonly SnapshotKey[] {
    const keys = this.#keys
    this.#keys = []
    return keys
  }

  /** Reads on. */
  parse(): Stop {
    const window = this.#window
    window.missing = 1
    if (this.facts.format === 0 && !this.#magic()) return 'bytes'
    if (this.#skipping && !this.#skip()) return 'bytes'
    const { bytes } = window
    while (this.#keys.length < KEYS_AT_ONCE) {
      if (window.at >= bytes.length) return 'bytes'
      const kind = bytes[window.at]!
      if (kind < LEAST_OPCODE ? !this.#record(kind) : !this.#opcode(kind)) return 'bytes'
      if (kind === OPCODE.eof) return 'end'
    }
    return 'keys'
  }

  /** Reads a key and its value; false where it needs more bytes: for the value, or for all of it once more. */
  #record(number: number): boolean {
    const window = this.#window
    const { bytes } = window
    const form = this.#forms[number] ?? this.#unknown(`type ${number}`)
    if (!head(bytes, window.at + 1, true)) return false
    const nameFrom = read.next
    const nameTo = nameFrom + read.size
    if (nameTo > bytes.length) return this.#lacks(nameTo)
    const isRaw = read.form === 'raw'

    let encoding = form.encoding
    let valueTo = Infinity
    let isLarge = false
    if (form.plain) {
      if (!head(bytes, nameTo, true)) return false
      valueTo = read.next + read.size
      isLarge = (read.form === 'packed' ? read.unpacked : read.size) > this.#valueBytes
      if (encoding === undefined) {
        // A number that is written out can be told only when it is all there.
        if (read.size <= LONGEST_NUMBER && valueTo > bytes.length) return this.#lacks(valueTo)
        encoding = choosesByKey(this.facts.server) ? 'unknown' : stringEncoding(bytes)
      }
    } else encoding ??= listEncoding(bytes, nameTo, this.facts.format)
    const type = form.type ?? moduleType(bytes, nameTo)
    if (encoding === undefined || type === undefined) return false

    const key = this.#seen(
      number,
      type,
      encoding,
      isRaw ? bytes : this.#written(window.at + 1),
      isRaw ? nameFrom : 0,
      isRaw ? nameTo : undefined,
    )
    if (this.#began === -1) this.#began = window.start + window.at
    window.at = nameTo
    this.#pending = key
    this.#kept = key === undefined || this.#valueBytes === 0 ? -1 : nameTo
    // Of a string that is too large, or would be when unpacked, nothing but this is of use.
    if (isLarge) this.#freeze(Math.min(valueTo, read.next))
    if (valueTo > bytes.length) return this.#pass(form.form)
    window.at = valueTo
    this.#end()
    return true
  }

  /** A key that is to be shown. */
  #seen(
    form: number,
    type: string,
    encoding: string,
    around: Buffer,
    from: number,
    to = around.length,
  ): SnapshotKey | undefined {
    const expiresAtMs = this.#expiresAtMs
    if (this.#database !== this.#wanted) {
      this.facts.elsewhere += 1
      return undefined
    }
    const takenAtMs = this.#takenAtMs()
    if (expiresAtMs !== -1 && expiresAtMs <= takenAtMs) {
      this.facts.expired += 1
      return undefined
    }
    if (!beginsWith(around, from, to, this.#prefix)) return undefined
    // It was taken within a second of which the number is known: no time to live is to seem longer than it was.
    const ttlMs = expiresAtMs === -1 ? 'forever' : Math.max(0, expiresAtMs - takenAtMs - 999)
    return new SnapshotKey(form, type, encoding, ttlMs, this.#idleMs, around, from, to)
  }

  /** What has been passed over is whole. */
  #end(): void {
    const window = this.#window
    const key = this.#pending
    if (key !== undefined) {
      key.bytes = window.start + window.at - this.#began
      if (this.#kept !== -1) key.keep(window.bytes, this.#kept, window.at)
      this.#keys.push(key)
      this.#pending = undefined
    }
    this.#kept = -1
    this.#began = -1
    this.#expiresAtMs = -1
    this.#idleMs = undefined
  }

  /** Passes over what has this form; false where it does not end in the bytes at hand. */
  #pass(form: Form): boolean {
    this.#skipper.begin(form)
    this.#skipping = true
    return this.#skip()
  }

  #skip(): boolean {
    if (this.#skipper.skip()) {
      this.#skipping = false
      this.#end()
      return true
    }
    const held = this.#kept === -1 ? 0 : this.#window.bytes.length - this.#kept
    if (held >= this.#valueBytes) this.#freeze(this.#kept + this.#valueBytes)
    // As much again, so that what is held is not copied for every piece.
    else this.#window.missing = Math.max(this.#window.missing, held)
    return false
  }

  /** Keeps the value up to here, and no more of it. */
  #freeze(to: number): void {
    if (this.#kept !== -1) this.#pending?.keep(this.#window.bytes, this.#kept, to)
    this.#kept = -1
  }

  /** Reads what is no key; false where it needs more bytes. */
  #opcode(code: number): boolean {
    const window = this.#window
    const { bytes } = window
    const at = window.at + 1
    if (this.#began === -1) this.#began = window.start + window.at
    switch (code) {
      case OPCODE.expiresMs:
        if (at + 8 > bytes.length) return this.#lacks(at + 8)
        this.#expiresAtMs = bytes.readUInt32LE(at) + bytes.readInt32LE(at + 4) * 2 ** 32
        window.at = at + 8
        return true
      case OPCODE.expiresSeconds:
        if (at + 4 > bytes.length) return this.#lacks(at + 4)
        this.#expiresAtMs = bytes.readInt32LE(at) * 1000
        window.at = at + 4
        return true
      case OPCODE.idle:
        if (!head(bytes, at, false)) return false
        this.#idleMs = read.size * 1000
        window.at = read.next
        return true
      case OPCODE.frequency:
        if (at >= bytes.length) return false
        window.at = at + 1
        return true
      case OPCODE.eof:
        return this.#eof()
      case OPCODE.database:
        if (!head(bytes, at, false)) return false
        this.#database = read.size
        window.at = read.next
        break
      case OPCODE.sizes: {
        if (!head(bytes, at, false)) return false
        const size = read.size
        if (!head(bytes, read.next, false)) return false
        if (this.#database === this.#wanted) this.facts.size += size
        window.at = read.next
        break
      }
      case OPCODE.aux:
        return this.#aux(at)
      default: {
        const form = PASSED_OVER.get(code) ?? this.#unknown(`opcode ${code}`)
        window.at = at
        return this.#pass(form)
      }
    }
    this.#began = -1
    return true
  }

  /** A fact about the snapshot: a name and what stands for it, of which few matter here. */
  #aux(at: number): boolean {
    const window = this.#window
    const { bytes } = window
    if (!head(bytes, at, true)) return false
    const valueAt = read.next + read.size
    if (!head(bytes, valueAt, true)) return valueAt <= bytes.length ? false : this.#lacks(valueAt)
    if (read.size > LONGEST_AUX) {
      window.at = at
      return this.#pass([STRING, STRING])
    }
    const to = read.next + read.size
    if (to > bytes.length) return this.#lacks(to)
    const value = this.#written(valueAt).toString()
    switch (this.#written(at).toString()) {
      case 'ctime':
        this.facts.takenAtMs = Number(value) * 1000
        break
      case 'redis-ver':
        this.facts.server ??= `Redis ${value}`
        break
      case 'valkey-ver':
        this.facts.server = `Valkey ${value}`
    }
    window.at = to
    this.#began = -1
    return true
  }

  #magic(): boolean {
    const window = this.#window
    const { bytes } = window
    const begin = bytes.toString('latin1', 0, MAGIC_BYTES)
    const [, name, version] = /^(REDIS|VALKEY)(\d{4}|(?<=Y)\d{3})/.exec(begin) ?? []
    const isPart = 'REDIS'.startsWith(begin.slice(0, 5)) || 'VALKEY'.startsWith(begin.slice(0, 6))
    if (bytes.length < MAGIC_BYTES && isPart) return this.#lacks(MAGIC_BYTES)
    if (name === undefined || Number(version) === 0)
      throw new SnapshotError(
        'foreign',
        'this is no snapshot: an RDB file begins with REDIS or VALKEY and a number',
      )
    this.facts.format = Number(version)
    if (name === 'VALKEY') this.#forms = VALKEY_FORMS
    window.at = MAGIC_BYTES
    return true
  }

  /** The end, and the checksum of all before it; 0 stands for none. */
  #eof(): boolean {
    const window = this.#window
    const { bytes } = window
    const at = window.at + 1
    const to = this.facts.format < FIRST_WITH_CHECKSUM ? at : at + 8
    if (to > bytes.length) return this.#lacks(to)
    this.#sum(at)
    if (to > at && bytes.readBigUInt64LE(at) !== 0n && !this.#crc.is(bytes, at))
      throw damaged('its checksum is not that of its bytes')
    window.at = to
    return true
  }

  #sum(to: number): void {
    this.#crc.update(this.#window.bytes, this.#summed, to)
    this.#summed = to
  }

  /** Reads a string in any way it may be written. */
  #written(at: number): Buffer {
    try {
      return rdbReader(this.#window.bytes.subarray(at)).string()
    } catch (error) {
      throw damaged('a string cannot be unpacked', error)
    }
  }

  #takenAtMs(): number {
    return (this.facts.takenAtMs ??= Math.floor(Date.now() / 1000) * 1000)
  }

  #lacks(to: number): false {
    const longest = this.#window.at + LONGEST_STRING
    if (to > longest) throw damaged('a string is longer than any can be')
    this.#window.missing = to - this.#window.bytes.length
    return false
  }

  #unknown(what: string): never {
    const { format, server } = this.facts
    throw new SnapshotError(
      'unknown',
      `the snapshot holds ${what}, which is not known here: it is of format ${format}` +
        `${server === undefined ? '' : `, written by ${server}`}; those of Redis up to 8.0 and Valkey up to 9.0 are known`,
    )
  }
}

function beginsWith(bytes: Buffer, from: number, to: number, start: Buffer): boolean {
  if (to - from < start.length) return false
  for (let at = 0; at < start.length; at += 1) if (bytes[from + at] !== start[at]) return false
  return true
}

function damaged(how: string, cause?: unknown): SnapshotError {
  return new SnapshotError('damaged', `the snapshot is damaged: ${how}`, cause)
}

// Enough that what is done once for each of them weighs little.
const KEYS_AT_ONCE = 512
const MAGIC_BYTES = 9
const FIRST_WITH_CHECKSUM = 5
const LONGEST_NUMBER = 20
const LONGEST_AUX = 1024
// The server takes no longer ones (`proto-max-bulk-len`), unless it is told to.
const LONGEST_STRING = 512 * 2 ** 20 + 64
