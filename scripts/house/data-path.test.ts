import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { filesIn, textOf } from './tracked.ts'

const page = textOf('docs/design/data-path.md')
const steps = [...page.matchAll(/^\| `([^`]+)` \| `([^`]+)` \|/gm)].map(([, name, path]) => ({
  name: name!,
  path: path!,
}))

test('every step that the page names stands in the file that it names', () => {
  expect(steps.length).toBeGreaterThan(15)
  const known = new Set(filesIn('packages'))
  for (const { name, path } of steps) {
    expect(known.has(path), path).toBe(true)
    if (name.endsWith('.lua')) expect(basename(path)).toBe(name)
    else expect(textOf(path), `${name} in ${path}`).toMatch(declaration(name))
  }
})

/** A function, a class, a constant or a method of this name. */
function declaration(name: string): RegExp {
  return new RegExp(
    String.raw`(?:function\*?|class|const) ${name}\b|^\s+(?:protected |async )*${name}(?:<[^(]*>)?\(.*\).*\{$|^\s+(?:protected |async )*${name}(?:<[^(]*>)?\($`,
    'm',
  )
}

test('what every call passes comes in the order in which it is wrapped', () => {
  const open = textOf('packages/keyspec/src/keyspace.ts')
  expect(open.indexOf('tick(connection)')).toBeGreaterThan(-1)
  expect(open.indexOf('renaming(together')).toBeGreaterThan(open.indexOf('tick(connection)'))
})
