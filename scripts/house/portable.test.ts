import { expect, test } from 'vitest'
import { filesIn, textOf } from './tracked.ts'

// Spelled in pieces, so that this file does not name them itself.
const FOREIGN = [
  ['/wo', 'rk/'],
  ['/ro', 'ot/'],
  ['/tmp/bash', '_jobs'],
  ['registry.', 'npmjs.'],
  ['registry.', 'yarnpkg.'],
  ['deb.', 'debian.org'],
].map((pieces) => pieces.join(''))

test('no file names a path or a package registry of the machine it was written on', () => {
  const named = filesIn('.').flatMap((path) => {
    const text = textOf(path)
    return FOREIGN.filter((name) => text.includes(name)).map((name) => `${path} names ${name}`)
  })
  expect(named).toEqual([])
})

test('the lock file does not say where packages are downloaded from', () => {
  const { packages } = JSON.parse(textOf('package-lock.json')) as {
    packages: Record<string, { resolved?: string }>
  }
  const located = Object.entries(packages).filter(([, { resolved }]) => resolved?.includes('://'))
  expect(located.map(([path]) => path)).toEqual([])
})
