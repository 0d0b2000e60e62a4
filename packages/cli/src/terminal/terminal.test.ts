import { expect, test, vi } from 'vitest'
import { log } from './log.ts'
import { output } from './output.ts'

function stream(isTTY: boolean) {
  const written: string[] = []
  return {
    isTTY,
    columns: 20,
    write: (text: string | Uint8Array) => written.push(String(text)),
    once: vi.fn<(event: 'drain', heard: () => void) => void>(),
    written,
  }
}

test.each([
  ['a terminal', true, {}, '\u001B[31mred\u001B[39m'],
  ['a terminal where NO_COLOR is set', true, { NO_COLOR: '1' }, 'red'],
  ['a terminal where NO_COLOR is empty', true, { NO_COLOR: '' }, '\u001B[31mred\u001B[39m'],
  ['a dumb terminal', true, { TERM: 'dumb' }, 'red'],
  ['a file', false, {}, 'red'],
])('colours on %s are as they should be', (_, isTTY, env, expected) => {
  expect(output(stream(isTTY), env, false).paint.red('red')).toBe(expected)
})

test('a record is text for people, and a line of JSON where that was asked', () => {
  const [plain, json] = [stream(false), stream(false)]
  for (const [to, isJson] of [
    [plain, false],
    [json, true],
  ] as const) {
    const out = output(to, {}, isJson)
    out.text('heading')
    out.record({ keys: 1 }, () => '1 key')
  }
  expect(plain.written).toEqual(['heading\n', '1 key\n'])
  expect(json.written).toEqual(['{"keys":1}\n'])
})

test('progress is one line that is replaced, cut to the width, and gone at the end', () => {
  const terminal = stream(true)
  const messages = log(terminal, {})
  messages.progress(() => '1,234 of 5,678 keys, 12 s left')
  messages.progress(() => 'so soon after, this is not shown')
  messages.say('done')
  expect(terminal.written).toEqual(['\r\u001B[2K1,234 of 5,678 keys', '\r\u001B[2K', 'done\n'])
})

test('where there is no terminal there is no progress, and its text is not even made', () => {
  const file = stream(false)
  const text = vi.fn<() => string>(() => 'never')
  const messages = log(file, {})
  messages.progress(text)
  messages.done()
  expect(text).not.toHaveBeenCalled()
  expect(file.written).toEqual([])
})
