import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { textOf } from './tracked.ts'

const EXTEND = 'packages/keyspec/src/extend.ts'

const exported = [...textOf(EXTEND).matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)'/gm)].flatMap(
  ([, list, from]) =>
    list!
      .split(',')
      .map(
        (item) =>
          item
            .trim()
            .replace(/^type /, '')
            .split(' as ')[0]!,
      )
      .filter((name) => name !== '')
      .map((name) => [name, posix.join(posix.dirname(EXTEND), from!)] as const),
)

test('everything that keyspec/extend exports has a docstring', () => {
  expect(exported.length).toBeGreaterThan(50)
  const bare = exported.filter(
    ([name, file]) =>
      !new RegExp(
        `\\*/\\nexport (?:async |abstract )?(?:function\\*?|class|const|interface|type) ${name}\\b`,
      ).test(textOf(file)),
  )
  expect(bare.map(([name, file]) => `${name} of ${file}`)).toEqual([])
})
