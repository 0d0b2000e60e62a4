/**
 * CRC-64 as RDB files have it (`crc64.c` of Redis: the polynomial of Jones, 0xad93d23594c935a9, reflected), taken as the
 * bytes come. Eight bytes at a time by tables, in two halves of 32 bits each: no BigInt on the way.
 */
export class Crc64 {
  #low = 0
  #high = 0

  /** Goes on with the bytes from `from` up to `to`. */
  update(bytes: Uint8Array, from: number, to: number): void {
    let low = this.#low
    let high = this.#high
    let at = from
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (; at + 8 <= to; at += 8) {
      const x = low ^ view.getInt32(at, true)
      const y = high ^ view.getInt32(at + 4, true)
      const a = 1792 + (x & 255)
      const b = 1536 + ((x >>> 8) & 255)
      const c = 1280 + ((x >>> 16) & 255)
      const d = 1024 + (x >>> 24)
      const e = 768 + (y & 255)
      const f = 512 + ((y >>> 8) & 255)
      const g = 256 + ((y >>> 16) & 255)
      const h = y >>> 24
      low = LOW[a]! ^ LOW[b]! ^ LOW[c]! ^ LOW[d]! ^ LOW[e]! ^ LOW[f]! ^ LOW[g]! ^ LOW[h]!
      high = HIGH[a]! ^ HIGH[b]! ^ HIGH[c]! ^ HIGH[d]! ^ HIGH[e]! ^ HIGH[f]! ^ HIGH[g]! ^ HIGH[h]!
    }
    for (; at < to; at += 1) {
      const entry = (low ^ bytes[at]!) & 255
      low = LOW[entry]! ^ ((low >>> 8) | (high << 24))
      high = HIGH[entry]! ^ (high >>> 8)
    }
    this.#low = low
    this.#high = high
  }

  /** Whether this is what eight bytes in a file, least significant first, say. */
  is(bytes: Buffer, at: number): boolean {
    return this.#low === bytes.readInt32LE(at) && this.#high === bytes.readInt32LE(at + 4)
  }
}

// Eight tables of 256, one behind the other: table n is what a byte comes to that has n bytes behind it.
const LOW = new Int32Array(2048)
const HIGH = new Int32Array(2048)
for (let byte = 0; byte < 256; byte += 1) {
  let low = byte
  let high = 0
  for (let bit = 0; bit < 8; bit += 1) {
    const carry = low & 1
    low = (low >>> 1) | (high << 31)
    high >>>= 1
    if (carry === 1) {
      low ^= 0xac_4b_c9_b5
      high ^= 0x95_ac_93_29
    }
  }
  LOW[byte] = low
  HIGH[byte] = high
}
for (let entry = 256; entry < 2048; entry += 1) {
  const low = LOW[entry - 256]!
  const high = HIGH[entry - 256]!
  LOW[entry] = LOW[low & 255]! ^ ((low >>> 8) | (high << 24))
  HIGH[entry] = HIGH[low & 255]! ^ (high >>> 8)
}
