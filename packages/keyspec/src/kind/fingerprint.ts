import { nodeCrypto } from '../builtin.ts'

/** What stored values depend on beside their placeholders: a prompt, a model, a shape. */
export interface FingerprintOptions {
  /** The version that stands in the keys, or in the program: it must change whenever `of` does. */
  readonly version: string | number
  /** All that the values depend on; anything that has a JSON form. */
  readonly of: unknown
}

/** A version, and the digest of what it stands for. */
export interface Fingerprint {
  readonly version: string
  /** SHA-256 (FIPS 180-4), in hex, of the JSON form with its keys in order. */
  readonly digest: string
}

/** The fingerprint of what values depend on: equal for equal things, in whatever order their keys were written. */
export function fingerprintOf({ version, of }: FingerprintOptions): Fingerprint {
  const text = JSON.stringify(of, inOrder) ?? 'undefined'
  return { version: String(version), digest: nodeCrypto().createHash('sha256').update(text).digest('hex') }
}

function inOrder(_key: string, value: unknown): unknown {
  if (value instanceof RegExp || typeof value === 'function') return String(value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
