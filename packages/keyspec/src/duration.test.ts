import { expect, test } from 'vitest'
import { type Duration, milliseconds, spell } from './duration.ts'
import { SchemaError } from './errors.ts'

test.each([
  ['250ms', 250],
  ['30s', 30_000],
  ['1.5m', 90_000],
  ['24h', 86_400_000],
  ['7d', 604_800_000],
  ['2w', 1_209_600_000],
  ['3650000d', 315_360_000_000_000],
] as [Duration, number][])('%s is %i ms', (duration, ms) => {
  expect(milliseconds(duration)).toBe(ms)
})

test.each(['', '24', 'h', '-1s', '0s', '0.1ms', 'NaNs', 'Infinitys', '1 h', '1e3s'])(
  '%j is not a duration',
  (text) => {
    expect(() => milliseconds(text as Duration)).toThrow(SchemaError)
  },
)

test.each(['3650001d', '315360000000001ms', '999999999999w'])('%s is too long', (duration) => {
  expect(() => milliseconds(duration as Duration)).toThrow(SchemaError)
})

test.each([
  [86_400_000, '24h'],
  [604_800_000, '7d'],
  [5_400_000, '90m'],
  [10_000, '10s'],
  [1_500, '1500ms'],
] as const)('%i ms are spelled %s, which reads back', (ms, text) => {
  expect(spell(ms)).toBe(text)
  expect(milliseconds(spell(ms))).toBe(ms)
})
