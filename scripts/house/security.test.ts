import { expect, test } from 'vitest'
import { filesIn, textOf } from './tracked.ts'

const page = textOf('docs/security.md')

test('every limit on the page is the one in the code', () => {
  const rows = [...page.matchAll(/^\| [^|]+ \| [^|]+ \| `([^`]+)`: `([^`]+)` \|$/gm)]
  expect(rows.length).toBeGreaterThan(8)
  for (const [, path, code] of rows) expect(textOf(path!), path).toContain(code)
})

test('a limit of bytes that a system keeps has its row', () => {
  const limits = /(?:MAX_\w*BYTES|max\w*Bytes) = [\d_* ]+\d/g
  const found = filesIn('systems').filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && limits.test(textOf(path)),
  )
  expect(found.length).toBeGreaterThan(3)
  expect(found.filter((path) => !page.includes(`\`${path}\``))).toEqual([])
})

test('the services listen on this machine alone', () => {
  const listens = filesIn('systems').filter(
    (path) =>
      /\/src\/.*(?<!\.test)\.ts$/.test(path) && /\.listen\([^)]*(?:0\.0\.0\.0|'::')/.test(textOf(path)),
  )
  expect(listens).toEqual([])
  expect(textOf('systems/program/src/http/http-service.ts')).toContain("'127.0.0.1'")
})
