/** What TYPE says of a key with this DUMP; `undefined` for what modules keep, and forms that are not known here. */
export function typeOfDump(dump: Buffer): string | undefined {
  return TYPES[dump[0]!]
}

// By the numbers of rdb.h, which every DUMP begins with.
const TYPES: readonly (string | undefined)[] = Array.from({ length: 26 }, (_, number) => {
  if (number === 0) return 'string'
  if ([1, 10, 14, 18].includes(number)) return 'list'
  if ([2, 11, 20].includes(number)) return 'set'
  if ([3, 5, 12, 17].includes(number)) return 'zset'
  if ([4, 9, 13, 16, 22, 23, 24, 25].includes(number)) return 'hash'
  if ([15, 19, 21].includes(number)) return 'stream'
  return undefined
})
