import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { keyspec } from '../../../test-support/command-line.ts'

const cwd = fileURLToPath(new URL('..', import.meta.url))

test('the README’s page of keys is what the schema declares', async () => {
  expect(await keyspec(['docs', '--check'], { cwd })).toMatchObject({ code: 0, out: 'README.md is fresh\n' })
})

test('nothing is wrong with the schema', async () => {
  expect(await keyspec(['check', '--strict'], { cwd })).toMatchObject({ code: 0, out: '' })
})
