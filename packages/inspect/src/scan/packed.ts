import { UnsupportedClientError } from 'keyspec'
import type { Reply } from 'keyspec/extend'

/**
 * Reads what a script has packed with `cmsgpack.pack`: strings, whole numbers and arrays of MessagePack
 * (https://github.com/msgpack/msgpack/blob/master/spec.md). Strings are bytes, and share the memory of what is read.
 */
export class Unpacker {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /**
   * Reads a number.
   * @throws UnsupportedClientError if something else stands here
   */
  number(): number {
    const form = this.#bytes[this.#at++]!
    return form < 0x80 ? form : this.#number(form)
  }

  /** How many values the array has that begins here. */
  array(): number {
    const form = this.#bytes[this.#at++]!
    if (form >> 4 === 0x9) return form & 0x0f
    // What is empty in Lua is a map.
    if (form === 0x80) return 0
    if (form === 0xdc) return this.#unsigned(2)
    if (form === 0xdd) return this.#unsigned(4)
    throw unexpected('an array', form)
  }

  /** Whatever stands here. */
  value(): Reply {
    const form = this.#bytes[this.#at]!
    if (form >> 5 === 0x5) return this.#string(1, form & 0x1f)
    if (form >= 0xd9 && form <= 0xdb) {
      this.#at += 1
      return this.#string(0, this.#unsigned(1 << (form - 0xd9)))
    }
    if (form >> 4 === 0x9 || form === 0x80 || form === 0xdc || form === 0xdd)
      return Array.from({ length: this.array() }, () => this.value())
    return this.number()
  }

  #string(head: number, length: number): Buffer {
    const from = this.#pass(head + length) + head
    return this.#bytes.subarray(from, this.#at)
  }

  #number(form: number): number {
    if (form >= 0xe0) return form - 0x100
    if (form >= 0xcc && form <= 0xcf) return this.#unsigned(1 << (form - 0xcc))
    if (!(form >= 0xd0 && form <= 0xd3)) throw unexpected('a whole number', form)
    const size = 1 << (form - 0xd0)
    const from = this.#pass(size)
    return size === 8 ? Number(this.#bytes.readBigInt64BE(from)) : this.#bytes.readIntBE(from, size)
  }

  #unsigned(size: number): number {
    let sum = 0
    for (let at = this.#pass(size); at < this.#at; at += 1) sum = sum * 256 + this.#bytes[at]!
    return sum
  }

  /** Goes on by so many bytes, and returns where they begin. */
  #pass(size: number): number {
    const from = this.#at
    this.#at = from + size
    if (this.#at > this.#bytes.length) throw unexpected(`${size} bytes`, undefined)
    return from
  }
}

/** Packs strings of bytes as an array, for `cmsgpack.unpack`. */
export function packed(strings: readonly Buffer[]): Buffer {
  let size = HEAD
  for (const { length } of strings) size += HEAD + length
  const bytes = Buffer.allocUnsafe(size)
  bytes[0] = 0xdd
  let at = bytes.writeUInt32BE(strings.length, 1)
  for (const string of strings) {
    const { length } = string
    if (length < 0x20) bytes[at++] = 0xa0 | length
    else {
      bytes[at] = 0xdb
      at = bytes.writeUInt32BE(length, at + 1)
    }
    bytes.set(string, at)
    at += length
  }
  return bytes.subarray(0, at)
}

// A byte that says what it is, and four for how long.
const HEAD = 5

function unexpected(what: string, form: number | undefined): UnsupportedClientError {
  const found = form === undefined ? 'the end' : `what begins with 0x${form.toString(16)}`
  return new UnsupportedClientError(`the server's packed answer holds ${found} where ${what} was expected`)
}
