import { nodeCrypto } from 'keyspec/extend'

/** A set of keys in 16 to 32 bytes each: their digests of 64 bits, of which two of a million are as good as never equal. */
export interface KeyTable {
  add(key: Buffer): void
  has(key: Buffer): boolean
}

/** A table for at most so many keys. */
export function keyTable(most: number): KeyTable {
  const size = 2 ** Math.ceil(Math.log2(Math.max(2, most * 2)))
  const digests = new BigUint64Array(size)
  const mask = BigInt(size - 1)

  /** Where a digest stands, or the free place where it would. */
  function placeOf(digest: bigint): number {
    let place = Number(digest & mask)
    while (digests[place] !== 0n && digests[place] !== digest) place = (place + 1) & (size - 1)
    return place
  }

  return {
    add(key) {
      const digest = digestOf(key)
      digests[placeOf(digest)] = digest
    },
    has(key) {
      const digest = digestOf(key)
      return digests[placeOf(digest)] === digest
    },
  }
}

/** Which of so many parts a key is of. */
export function partOf(key: Buffer, parts: number): number {
  return parts === 1 ? 0 : Number((digestOf(key) >> 32n) % BigInt(parts))
}

function digestOf(key: Buffer): bigint {
  const digest = nodeCrypto().createHash('sha1').update(key).digest().readBigUInt64BE(0)
  // Nought marks a free place.
  return digest === 0n ? 1n : digest
}
