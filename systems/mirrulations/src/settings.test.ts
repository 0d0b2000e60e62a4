import { expect, test } from 'vitest'
import { isOn } from './settings.ts'

test.each([
  [undefined, false],
  ['', false],
  ['0', false],
  [' 1 ', true],
])('a switch that is %j', (text, on) => {
  expect(isOn({ SWITCH: text }, 'SWITCH')).toBe(on)
})

test.each(['true', 'no', '2'])(
  'a switch that is %j is an error, since nobody knows what was meant',
  (text) => {
    expect(() => isOn({ SWITCH: text }, 'SWITCH')).toThrow(`SWITCH is "${text}"; it must be 1 or 0`)
  },
)
