import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { ownFile } from './own-file.ts'

test('a file is found from the root of the package, however deep the module stands', () => {
  const at = new URL('../package.json', import.meta.url).pathname
  expect(ownFile(import.meta.url, 'package.json')).toBe(at)
  expect(ownFile(new URL('./deeper/still/module.js', import.meta.url).href, 'package.json')).toBe(at)
})

test('a module of no package is named', () => {
  expect(() => ownFile(pathToFileURL('/nowhere/module.js').href, 'x')).toThrow(
    'file:///nowhere/module.js is in no package',
  )
})
