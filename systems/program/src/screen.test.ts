import { describe, expect, test } from 'vitest'
import { bar, screen } from './screen.ts'

function output(isTTY: boolean) {
  let text = ''
  return { isTTY, columns: 60, write: (more: string) => (text += more), text: () => text }
}

describe('on a terminal', () => {
  test('what is shown is replaced, and lines that stay are printed above it', () => {
    const out = output(true)
    const shown = screen(out, { NO_COLOR: '1' })
    shown.show(['one', 'two'])
    shown.print('stays')
    shown.clear()
    expect(out.text()).toBe('one\ntwo\n\u001B[2A\u001B[0Jstays\none\ntwo\n\u001B[2A\u001B[0J')
    expect(shown.bold('x')).toBe('x')
  })

  test('colours are used unless NO_COLOR is set', () => {
    expect(screen(output(true), {}).bold('x')).toBe('\u001B[1mx\u001B[0m')
    expect(screen(output(true), { NO_COLOR: '1' }).bold('x')).toBe('x')
  })

  test('a line is cut to the width, as a longer one would stay', () => {
    const out = output(true)
    screen(out, {}).show(['x'.repeat(100)])
    expect(out.text()).toBe(`${'x'.repeat(58)}…\n`)
  })
})

test('without a terminal plain lines are printed, now and then, and none twice', () => {
  const out = output(false)
  let now = 0
  const shown = screen(out, {}, () => now)
  shown.show(['a', 'b'])
  now = 1_000
  shown.show(['too soon'])
  now = 3_000
  shown.show(['a', 'b'])
  shown.show(['c'])
  shown.clear()
  expect(out.text()).toBe('a  b\nc\n')
  expect(shown.bold('x')).toBe('x')
})

test('a bar is never longer than it may be', () => {
  expect([bar(0, 4), bar(0.5, 4), bar(2, 4)]).toEqual(['░░░░', '██░░', '████'])
})
