import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { filesIn } from './tracked.ts'

const VAGUE = new Set([
  'util',
  'utils',
  'helper',
  'helpers',
  'common',
  'types',
  'manager',
  'service',
  'misc',
  'shared',
])

const sources = [...filesIn('packages'), ...filesIn('systems')].filter((path) => path.includes('/src/'))

test('files and folders are named for the noun they export', () => {
  expect(sources.filter(isVague)).toEqual([])
})

test('file names are kebab-case', () => {
  expect(sources.filter((path) => /\.(?:[jt]s|lua)$/.test(path) && !isKebab(path))).toEqual([])
})

function isVague(path: string): boolean {
  return path.split('/').some((part) => VAGUE.has(part.split('.')[0]!))
}

function isKebab(path: string): boolean {
  return /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9-]+)*$/.test(basename(path))
}
