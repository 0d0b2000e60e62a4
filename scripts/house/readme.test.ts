import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
const readme = readFileSync(path.join(root, 'README.md'), 'utf8')
const tourOf = (text: string) => /```js\n(.*?)```/s.exec(text)![1]!
const tour = tourOf(readme)
const published = 'packages/keyspec/README.md'
const ofPackage = readFileSync(path.join(root, published), 'utf8')

test.each([
  ['README.md', tour],
  [published, tourOf(ofPackage)],
])('the tour in %s runs as printed, says what its comments say, and ends', async (_, tour) => {
  // Inside the repository, so that it finds `keyspec` as a program of ours would.
  const folder = mkdtempSync(path.join(root, 'node_modules/.tour-'))
  try {
    const program = path.join(folder, 'tour.mjs')
    writeFileSync(program, tour)
    const { stdout } = await promisify(execFile)(process.execPath, [program], { timeout: 60_000 })
    const promised = [...tour.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, comment]) => comment!)
    expect(promised.length).toBeGreaterThan(2)
    expect(squeeze(stdout)).toBe(squeeze(promised.join('\n')))
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the tour is no longer than it says', () => {
  const lines = tour.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('import '))
  expect(lines.length).toBeLessThanOrEqual(20)
})

test('the README of the package names every entry point, and nothing that npm does not show', () => {
  const manifest = readFileSync(path.join(root, 'packages/keyspec/package.json'), 'utf8')
  const { exports, peerDependencies, engines } = JSON.parse(manifest) as Record<
    string,
    Record<string, string>
  >
  const named = [...ofPackage.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name!)
  const offered = Object.keys(exports!).filter((each) => each !== './package.json')
  expect(named.toSorted()).toEqual(offered.map((each) => `keyspec${each.slice(1)}`).toSorted())
  // A link into the repository would lead nowhere on npm.
  expect([...ofPackage.matchAll(/\]\((?!https:)/g)]).toEqual([])
  expect(ofPackage).toContain(`Node ${engines!['node']!.slice(2)} or later`)
  expect(peerDependencies).toEqual({
    '@valkey/valkey-glide': '^2.0.0',
    ioredis: '^5.0.0 || ^6.0.0',
    redis: '^5.0.0 || ^6.0.0',
  })
  expect(ofPackage).toContain('node-redis 5 or 6, ioredis 5 or 6, Valkey GLIDE 2')
})

test('every file and folder that the README names exists', () => {
  const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g), ...readme.matchAll(/^\| `([^`]+)` \|/gm)]
  expect(links.length).toBeGreaterThan(3)
  for (const [, target] of links) expect(existsSync(path.join(root, target!)), target).toBe(true)
})

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
