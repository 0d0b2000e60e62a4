import { expect, test } from 'vitest'
import { filesIn, textOf } from './tracked.ts'

const INDEX = 'docs/design/README.md'
const pages = filesIn('docs/design').filter((path) => path.endsWith('.md') && path !== INDEX)

test('the index of the design pages lists each of them under its own title', () => {
  const listed = [...textOf(INDEX).matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, title, page]) => [
    page,
    title,
  ])
  const own = pages.map((path) => [path.slice('docs/design/'.length), /^# (.+)$/m.exec(textOf(path))?.[1]])
  expect(listed.toSorted()).toEqual(own.toSorted())
})

test('a design page says first what was decided', () => {
  expect(pages.filter((path) => !/^# .+\n\n\*\*Decision\.\*\* /.test(textOf(path)))).toEqual([])
})
