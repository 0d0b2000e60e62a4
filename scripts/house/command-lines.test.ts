import { expect, test } from 'vitest'
import { filesIn, textOf } from './tracked.ts'

// The packages that a program loads know no command line: they say what to do as data (`Remedy`), and the command prints it.
const LINE =
  /['"`: ](?:keyspec (?:audit|check|cleanup|copy|diff|docs|doctor|erase|explain|export|import|manifest|migrate|stats)\b|redis-cli\b|redis-server --|give --\w|--[a-z][a-z-]+\b)/

/** The code of a file without its comments, and without imports. */
const codeOf = (text: string) =>
  text
    .replaceAll(/\/\*\*?[\s\S]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/(?<=[,;{}]) \/\/ .*$/gm, '')

const STARTS_PROCESSES = 'packages/keyspec/src/testing/'

test('no text of keyspec or @keyspec/inspect names a command line', () => {
  const sources = [...filesIn('packages/keyspec/src'), ...filesIn('packages/inspect/src')].filter(
    (path) =>
      path.endsWith('.ts') && !/\.(test|test-d|gen)\.ts$/.test(path) && !path.startsWith(STARTS_PROCESSES),
  )
  expect(sources.length).toBeGreaterThan(150)
  const found = sources.flatMap((path) =>
    codeOf(textOf(path))
      .split('\n')
      .filter((line) => LINE.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )
  expect(found).toEqual([])
})

test.each([
  "advice: 'keyspec cleanup --repair gives it one',",
  'commands: [`redis-cli CONFIG SET ${parameter}`]',
  "'only this node is looked at: give --cluster'",
])('a command line is found in %s', (line) => {
  expect(codeOf(line)).toMatch(LINE)
})

test.each(['at -= 1; count--', "const text = 'keyspec:phases'", '/** `keyspec doctor` prints it. */'])(
  'and none in %s',
  (line) => {
    expect(codeOf(line)).not.toMatch(LINE)
  },
)
