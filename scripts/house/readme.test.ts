import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
const readme = readFileSync(path.join(root, 'README.md'), 'utf8')
const tour = /```js\n(.*?)```/s.exec(readme)![1]!

test('the tour in the README runs as printed, and says what its comments say', async () => {
  // Inside the repository, so that it finds `keyspec` as a program of ours would.
  const folder = mkdtempSync(path.join(root, 'node_modules/.tour-'))
  try {
    const program = path.join(folder, 'tour.mjs')
    writeFileSync(program, `${tour}\nclient.destroy()\nawait server.stop()\n`)
    const { stdout } = await promisify(execFile)(process.execPath, [program])
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

test('every file and folder that the README names exists', () => {
  const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g), ...readme.matchAll(/^\| `([^`]+)` \|/gm)]
  expect(links.length).toBeGreaterThan(3)
  for (const [, target] of links) expect(existsSync(path.join(root, target!)), target).toBe(true)
})

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
