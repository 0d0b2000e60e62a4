/** Reads the pieces that DUMP payloads are made of; the format is that of RDB files. */
export interface RdbReader {
  byte(): number
  length(): number
  string(): Buffer
  /** So many bytes as they are. */
  bytes(size: number): Buffer
  /** A double as it stands in a sorted set of this version. */
  double(): number
}

/** A reader from the beginning of these bytes. */
export function rdbReader(bytes: Buffer): RdbReader {
  let at = 0

  function byte(): number {
    at += 1
    return bytes.readUInt8(at - 1)
  }

  function length(): number {
    const first = byte()
    if (first >> 6 === 0) return first
    if (first >> 6 === 1) return ((first & 0x3f) << 8) | byte()
    if (first === 0x80) return bytes.readUInt32BE((at += 4) - 4)
    if (first === 0x81) return Number(bytes.readBigUInt64BE((at += 8) - 8))
    throw new RangeError('a length is expected')
  }

  function string(): Buffer {
    const first = bytes.readUInt8(at)
    if (first >> 6 !== 3) {
      return some(length())
    }
    at += 1
    const form = first & 0x3f
    if (form === 0) return Buffer.from(String(bytes.readInt8((at += 1) - 1)))
    if (form === 1) return Buffer.from(String(bytes.readInt16LE((at += 2) - 2)))
    if (form === 2) return Buffer.from(String(bytes.readInt32LE((at += 4) - 4)))
    if (form !== 3) throw new RangeError('a string is expected')
    const packed = length()
    const size = length()
    return unpackLzf(some(packed), size)
  }

  function some(size: number): Buffer {
    at += size
    if (at > bytes.length) throw new RangeError('a string is cut off')
    return bytes.subarray(at - size, at)
  }

  return { byte, length, string, bytes: some, double: () => bytes.readDoubleLE((at += 8) - 8) }
}

/** The elements of a listpack (Redis 7 and Valkey: small collections), numbers as their text. */
export function* listpack(bytes: Buffer): Generator<Buffer> {
  let at = 6
  const text = (head: number, size: number) => {
    at += head + size
    return { element: bytes.subarray(at - size, at), length: head + size }
  }
  const number = (value: number | bigint, size: number) => {
    at += size
    return { element: Buffer.from(String(value)), length: size }
  }
  const read = (first: number) => {
    if (first < 0x80) return number(first, 1)
    if (first < 0xc0) return text(1, first & 0x3f)
    if (first < 0xe0) return number(((((first & 0x1f) << 8) | bytes.readUInt8(at + 1)) << 19) >> 19, 2)
    if (first < 0xf0) return text(2, ((first & 0x0f) << 8) | bytes.readUInt8(at + 1))
    if (first === 0xf0) return text(5, bytes.readUInt32LE(at + 1))
    if (first === 0xf1) return number(bytes.readInt16LE(at + 1), 3)
    if (first === 0xf2) return number(bytes.readIntLE(at + 1, 3), 4)
    if (first === 0xf3) return number(bytes.readInt32LE(at + 1), 5)
    return number(bytes.readBigInt64LE(at + 1), 9)
  }
  for (;;) {
    const first = bytes.readUInt8(at)
    if (first === 0xff) return
    const { element, length } = read(first)
    // Behind it stands its length once more, for reading backwards: seven bits a byte, five bytes at the most.
    at += [128, 16_384, 2_097_152, 268_435_456].filter((most) => length >= most).length + 1
    yield element
  }
}

/** The elements of a ziplist (Redis 6: small collections), numbers as their text. */
export function* ziplist(bytes: Buffer): Generator<Buffer> {
  let at = 10
  const text = (head: number, size: number) => {
    at += head + size
    return bytes.subarray(at - size, at)
  }
  const number = (value: number | bigint, size: number) => {
    at += size
    return Buffer.from(String(value))
  }
  while (bytes.readUInt8(at) !== 0xff) {
    at += bytes.readUInt8(at) < 0xfe ? 1 : 5
    const first = bytes.readUInt8(at)
    if (first >> 6 === 0) yield text(1, first)
    else if (first >> 6 === 1) yield text(2, ((first & 0x3f) << 8) | bytes.readUInt8(at + 1))
    else if (first >> 6 === 2) yield text(5, bytes.readUInt32BE(at + 1))
    else if (first === 0xc0) yield number(bytes.readInt16LE(at + 1), 3)
    else if (first === 0xd0) yield number(bytes.readInt32LE(at + 1), 5)
    else if (first === 0xe0) yield number(bytes.readBigInt64LE(at + 1), 9)
    else if (first === 0xf0) yield number(bytes.readIntLE(at + 1, 3), 4)
    else if (first === 0xfe) yield number(bytes.readInt8(at + 1), 2)
    else yield number((first & 0x0f) - 1, 1)
  }
}

/** The numbers of an intset (small sets of whole numbers), as their text. */
export function* intset(bytes: Buffer): Generator<Buffer> {
  const size = bytes.readUInt32LE(0)
  const count = bytes.readUInt32LE(4)
  for (let index = 0; index < count; index += 1) {
    const at = 8 + index * size
    yield Buffer.from(String(size === 8 ? bytes.readBigInt64LE(at) : bytes.readIntLE(at, size)))
  }
}

/** LZF, as Redis packs strings: runs of bytes, and references to what came before. */
function unpackLzf(packed: Buffer, size: number): Buffer {
  const { length: end } = packed
  if (size > end * MOST_FROM_ONE_BYTE) throw damaged()
  const out = Buffer.allocUnsafe(size)
  let to = 0
  let at = 0
  // Byte by byte: runs are of 32 at the most, and a reference may reach into what it writes.
  while (at < end) {
    const control = packed[at++]!
    if (control < 32) {
      const stop = at + control + 1
      if (stop > end || to + control >= size) throw damaged()
      while (at < stop) out[to++] = packed[at++]!
      continue
    }
    let length = (control >> 5) + 2
    if (length === 9) length += packed[at++]!
    let from = to - (((control & 0x1f) << 8) | packed[at++]!) - 1
    const stop = to + length
    // Where the bytes end too soon, `stop` is no number.
    if (!(from >= 0 && stop <= size)) throw damaged()
    while (to < stop) out[to++] = out[from++]!
  }
  if (to !== size || at !== end) throw damaged()
  return out
}

function damaged(): RangeError {
  return new RangeError('a packed string is damaged')
}

// Three bytes stand for up to 264.
const MOST_FROM_ONE_BYTE = 88
