import { type Form, LENGTH, PIECES, SCORE, STRING } from './value-form.ts'
import { SnapshotError } from './snapshot-error.ts'
import type { Window } from './window.ts'

/**
 * Passes over values by the lengths that stand in them. It can stop after any byte and go on when there are more, so nothing
 * is kept however large a value is, and nothing is made for its elements.
 */
export class Skipper {
  readonly #window: Window
  /** Bytes to pass over before anything else is looked at. */
  #bytes = 0
  // What is being passed over, from the outermost: the form, the place in it, and how many times it is still to come.
  readonly #forms: Form[] = []
  readonly #places: number[] = []
  readonly #lefts: number[] = []
  #depth = -1

  constructor(window: Window) {
    this.#window = window
  }

  /** Begins with something of this form, which starts where the window is read. */
  begin(form: Form): void {
    this.#depth = -1
    this.#enter(form, 1)
  }

  /** Goes on; false where it needs more bytes. */
  skip(): boolean {
    const window = this.#window
    const end = window.bytes.length
    for (;;) {
      if (this.#bytes > 0) {
        const passed = Math.min(this.#bytes, end - window.at)
        window.at += passed
        this.#bytes -= passed
        if (this.#bytes > 0) return false
      }
      if (this.#depth < 0) return true
      const form = this.#forms[this.#depth]!
      const place = this.#places[this.#depth]!
      if (place === form.length) {
        const left = this.#lefts[this.#depth]! - 1
        this.#lefts[this.#depth] = left
        if (left > 0) this.#places[this.#depth] = 0
        else this.#depth -= 1
        continue
      }
      if (!this.#step(form[place]!)) {
        window.missing = 1
        return false
      }
    }
  }

  /** Passes over one part, or the head of it; false where its head is not all there, and then nothing has happened. */
  #step(part: Form[number]): boolean {
    const window = this.#window
    if (part === STRING) {
      if (!head(window.bytes, window.at, true)) return false
      this.#bytes = read.size
    } else if (part === LENGTH) {
      if (!head(window.bytes, window.at, false)) return false
    } else if (typeof part === 'number') {
      this.#bytes = part
      this.#places[this.#depth]! += 1
      return true
    } else if (part === SCORE) {
      if (window.at >= window.bytes.length) return false
      const first = window.bytes[window.at]!
      read.next = window.at + 1
      // 253 to 255 stand for what is no number or has no end.
      this.#bytes = first < 253 ? first : 0
    } else if (part === PIECES) return this.#piece()
    else {
      if (!head(window.bytes, window.at, false)) return false
      window.at = read.next
      this.#places[this.#depth]! += 1
      if (read.size > 0) this.#enter(part, read.size)
      return true
    }
    window.at = read.next
    this.#places[this.#depth]! += 1
    return true
  }

  /** One piece of what a module has written (`rdb.h`, RDB_MODULE_OPCODE), which says of itself what it is. */
  #piece(): boolean {
    const window = this.#window
    const { bytes } = window
    if (!head(bytes, window.at, false)) return false
    const kind = read.size
    switch (kind) {
      case 0:
        this.#places[this.#depth]! += 1
        break
      case 1:
      case 2:
        if (!head(bytes, read.next, false)) return false
        break
      case 3:
      case 4:
        this.#bytes = kind === 3 ? 4 : 8
        break
      case 5:
        if (!head(bytes, read.next, true)) return false
        this.#bytes = read.size
        break
      default:
        throw new SnapshotError(
          'damaged',
          `the snapshot is damaged: a module's value has a piece of kind ${kind}`,
        )
    }
    window.at = read.next
    return true
  }

  #enter(form: Form, times: number): void {
    this.#depth += 1
    this.#forms[this.#depth] = form
    this.#places[this.#depth] = 0
    this.#lefts[this.#depth] = times
  }
}

/** What `head` has found; one for all, since nothing is read at the same time. */
export const read = {
  /** A length; of a string the bytes that it takes. */
  size: 0,
  /** Where what follows begins. */
  next: 0,
  /** How a string is written: as it is, as a number, or packed with LZF. */
  form: 'raw' as 'raw' | 'number' | 'packed',
  /** Of a packed string: its size when unpacked. */
  unpacked: 0,
}

/** Reads a length, or the head of a string, into `read`; false where it is not all there. */
export function head(bytes: Buffer, at: number, isString: boolean): boolean {
  const end = bytes.length
  if (at >= end) return false
  const first = bytes[at]!
  read.form = 'raw'
  if (first < 0x40) {
    read.size = first
    read.next = at + 1
    return true
  }
  if (first < 0x80) {
    if (at + 1 >= end) return false
    read.size = ((first & 0x3f) << 8) | bytes[at + 1]!
    read.next = at + 2
    return true
  }
  if (first === 0x80) {
    if (at + 5 > end) return false
    read.size = bytes.readUInt32BE(at + 1)
    read.next = at + 5
    return true
  }
  if (first === 0x81) {
    if (at + 9 > end) return false
    read.size = bytes.readUInt32BE(at + 1) * 2 ** 32 + bytes.readUInt32BE(at + 5)
    read.next = at + 9
    return true
  }
  if (!isString || first < 0xc0 || first > 0xc3)
    throw new SnapshotError(
      'damaged',
      `the snapshot is damaged: where ${isString ? 'a string' : 'a length'} is to begin stands ${first}`,
    )
  if (first < 0xc3) {
    read.form = 'number'
    read.size = 1 << (first & 3)
    read.next = at + 1
    return true
  }
  if (!head(bytes, at + 1, false)) return false
  const packed = read.size
  if (!head(bytes, read.next, false)) return false
  read.unpacked = read.size
  read.size = packed
  read.form = 'packed'
  return true
}
