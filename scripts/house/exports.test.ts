import { expect, test } from 'vitest'
import { entryPoints } from './entry-points.ts'
import { textOf } from './tracked.ts'

// A change here is a change of the public interface: if it is meant, `npm test -- -u scripts/house`, and a changeset.
test.each(entryPoints)('the exports of $specifier are those listed', ({ source }) => {
  const text = textOf(source)
  expect(text, 'names every export by hand').not.toMatch(/^export (?:\*|default)/m)
  expect(exportedNames(text)).toMatchSnapshot()
})

/** The names a module exports, types as `type X`, read from its text: at run time they are gone. */
function exportedNames(text: string): string[] {
  const lists = [...text.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, type = '', list]) =>
    list!.split(',').map((item) => type + item.trim().replace(/^(type )?.* as /, '$1')),
  )
  const types = [...text.matchAll(/^export (?:declare )?(?:interface|type) (\w+)/gm)].map(
    ([, name]) => `type ${name}`,
  )
  const values = [
    ...text.matchAll(/^export (?:async )?(?:function\*?|const|let|class|abstract class) (\w+)/gm),
  ]
  const named = [...lists, ...types, ...values.map(([, name]) => name!)].filter((name) => name.trim() !== '')
  return [...new Set(named)].toSorted()
}
