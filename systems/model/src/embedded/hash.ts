/**
 * A 32-bit hash of `text` from `start` up to `end`: FNV-1a over its UTF-16 units, finished with MurmurHash3's mixer so
 * that every bit counts. Another `seed` gives another hash.
 */
export function hash32(text: string, seed = 0, start = 0, end = text.length): number {
  let hash = 0x811c9dc5 ^ seed
  for (let index = start; index < end; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return mix32(hash)
}

/** Spreads the bits of a 32-bit number; a second hash out of a first. */
export function mix32(number: number): number {
  let hash = number
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
