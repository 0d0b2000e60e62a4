import { head, read } from './skipper.ts'

/** What OBJECT ENCODING says of a string with this head, which `read` holds, once it has been loaded. */
export function stringEncoding(bytes: Buffer): string {
  if (read.form === 'number') return 'int'
  const size = read.form === 'packed' ? read.unpacked : read.size
  if (size > LONGEST_EMBEDDED) return 'raw'
  return size <= LONGEST_NUMBER && isWhole(bytes, read.next, size) ? 'int' : 'embstr'
}

/** Whether this server encodes a string by the length of its key and its time to live too, as Valkey does from 8.1 on. */
export function choosesByKey(server: string | undefined): boolean {
  const [, major = 0, minor = 0] = /^Valkey (\d+)\.(\d+)/.exec(server ?? '') ?? []
  return Number(major) > 8 || (Number(major) === 8 && Number(minor) >= 1)
}

/**
 * What OBJECT ENCODING says of a list whose nodes begin here, or nothing where more bytes are needed: as of Redis 7.2 (format
 * 11) a list of one small node is kept without the others.
 */
export function listEncoding(bytes: Buffer, at: number, format: number): string | undefined {
  if (!head(bytes, at, false)) return undefined
  const nodes = read.size
  if (nodes !== 1 || format < 11) return 'quicklist'
  if (!head(bytes, read.next, false)) return undefined
  return read.size === PACKED_NODE ? 'listpack' : 'quicklist'
}

/** The name of a module's type, which is the number that its values begin with: nine letters of six bits each. */
export function moduleType(bytes: Buffer, at: number): string | undefined {
  if (at + 9 > bytes.length) return undefined
  let rest = bytes.readBigUInt64BE(at + 1) >> 10n
  let name = ''
  for (let letter = 0; letter < 9; letter += 1) {
    name = LETTERS[Number(rest & 63n)]! + name
    rest >>= 6n
  }
  return name
}

// object.c: OBJ_ENCODING_EMBSTR_SIZE_LIMIT, and what a number of 64 bits can take.
const LONGEST_EMBEDDED = 44
const LONGEST_NUMBER = 20
// quicklist.h: QUICKLIST_NODE_CONTAINER_PACKED
const PACKED_NODE = 2
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Whether this is a whole number of 64 bits as the server itself would write it. */
function isWhole(bytes: Buffer, from: number, size: number): boolean {
  const first = bytes[from]
  if (size === 0 || !(first === MINUS || (first! >= ZERO && first! <= NINE))) return false
  const text = bytes.toString('latin1', from, from + size)
  if (!/^(?:0|-?[1-9]\d*)$/.test(text)) return false
  return size < 19 || BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
