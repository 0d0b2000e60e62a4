import { escapeKey } from '@keyspec/inspect/explain'

/** A value on one line, cut where it is long: text as it is, bytes in hex, vectors by their dimension and first numbers. */
export function value(given: unknown): string {
  if (typeof given === 'string') return text(given)
  if (Buffer.isBuffer(given) || given instanceof Uint8Array) return hex(Buffer.from(given))
  if (given instanceof Date) return Number.isNaN(given.getTime()) ? 'an invalid date' : given.toISOString()
  if (ArrayBuffer.isView(given)) return vector(given as Float32Array)
  try {
    return text(
      JSON.stringify(given, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part)) ??
        'undefined',
    )
  } catch {
    return `a ${typeof given}`
  }
}

/** What is stored, where no codec reads it: text where it is some, else bytes. */
export function stored(bytes: Buffer): string {
  const beginning = bytes.subarray(0, LONGEST)
  const isText = !beginning.includes(0) && !/\uFFFD/.test(beginning.toString().slice(0, -3))
  if (!isText) return hex(bytes)
  return `${escapeKey(beginning)}${bytes.length > LONGEST ? cutAt(bytes.length) : ''}`
}

const LONGEST = 2048
const MOST_BYTES = 64
const MOST_NUMBERS = 4

function text(given: string): string {
  return given.length > LONGEST
    ? `${escapeKey(given.slice(0, LONGEST))}${cutAt(given.length)}`
    : escapeKey(given)
}

function cutAt(length: number): string {
  return `… (${length.toLocaleString('en')} in all)`
}

function hex(bytes: Buffer): string {
  const digits = bytes.subarray(0, MOST_BYTES).toString('hex')
  return `0x${digits}${bytes.length > MOST_BYTES ? cutAt(bytes.length) : ''}`
}

function vector(numbers: Float32Array): string {
  const first = [...numbers.subarray(0, MOST_NUMBERS)].map((number) => Number(number.toPrecision(4)))
  return `${numbers.length} dimensions: ${first.join(', ')}${numbers.length > MOST_NUMBERS ? ', …' : ''}`
}
