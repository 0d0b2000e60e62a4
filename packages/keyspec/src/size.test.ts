import { expect, test } from 'vitest'
import { bytesIn, type Size } from './size.ts'

test.each<[Size, number]>([
  ['512b', 512],
  ['64kb', 65_536],
  ['1.5mb', 1_572_864],
  ['2gb', 2_147_483_648],
])('%s is %i bytes', (size, bytes) => {
  expect(bytesIn(size)).toBe(bytes)
})

test.each(['64', '0kb', '-1kb', '64 kb', 'kb', '1tb', 'NaNkb', '0.1b'])('%s is no size', (size) => {
  expect(() => bytesIn(size as Size)).toThrow(`"${size}" is not a size`)
})
