import { SchemaError } from './errors.ts'

const UNIT_BYTES = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 } as const

/** An amount of memory, by 1,024 as Redis counts: `'512b'`, `'64kb'`, `'1.5mb'`, `'2gb'`. */
export type Size = `${number}${keyof typeof UNIT_BYTES}`

/** The whole bytes in a size; a `SchemaError` unless it is a positive number with a unit. */
export function bytesIn(size: Size): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(b|kb|mb|gb)$/.exec(size) ?? []
  const bytes = Math.round(Number(amount) * UNIT_BYTES[unit as keyof typeof UNIT_BYTES])
  if (!Number.isSafeInteger(bytes) || bytes <= 0) {
    throw new SchemaError(
      `"${size}" is not a size: write a positive number and a unit, as in '512b', '64kb', '1.5mb'`,
    )
  }
  return bytes
}
