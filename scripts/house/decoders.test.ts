import { expect, test } from 'vitest'
import { filesIn, textOf } from './tracked.ts'

// A decoder that casts lets a reply of another form through, and whoever reads it next fails without a name.
const CAST = /\breply(?:: \([^)]*\) =>|\)(?:: [^=]*)? => \{[^}]*?=) reply as\b/s

test('the decoder of a script reads its reply, and casts none', () => {
  const sources = ['packages/keyspec/src', 'packages/inspect/src', 'packages/cli/src']
    .flatMap(filesIn)
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  expect(sources.length).toBeGreaterThan(100)
  expect(sources.filter((path) => CAST.test(textOf(path)))).toEqual([])
})

test.each([
  'reply: (reply) => reply as readonly number[],',
  'reply: (reply: Reply) => reply as Buffer,',
  'reply: (reply) => {\n    const [next] = reply as readonly Reply[]',
])('a cast is found: %s', (text) => {
  expect(text).toMatch(CAST)
})
