import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyspec } from '../../../test-support/command-line.ts'
import { FileError } from './failure.ts'
import { bytesOf } from './file.ts'

let redis: TemporaryRedis
let folder: string
beforeAll(async () => {
  redis = await startRedis()
  folder = await mkdtemp(join(tmpdir(), 'keyspec-file-'))
})
afterAll(() => Promise.all([redis.stop(), rm(folder, { recursive: true })]))

const run = (words: readonly string[]) =>
  keyspec(words, { env: { REDIS_URL: `unix://${redis.socket}` }, cwd: folder })
const schema = ['--schema', join(import.meta.dirname, '../fixture/schema.ts')]

// A folder where a file should be, and a file in a folder that is not there.
test.each<[string, 'read' | 'written']>([
  ['import . --inspect', 'read'],
  ['diff .', 'read'],
  ['stats --snapshot .', 'read'],
  ['audit --baseline .', 'read'],
  ['check --against .', 'read'],
  ['docs --out .', 'read'],
  ['docs --out none/keys.md', 'written'],
  ['audit --baseline none/debt.json --write-baseline', 'written'],
  ['export --out none/keys.keyspec', 'written'],
])('keyspec %s: the file cannot be %s, which is no lost connection', async (words, done) => {
  const { code, err, out } = await run([...words.split(' '), ...schema])
  expect(err).toMatch(new RegExp(`^keyspec: \\S* cannot be ${done}: E[A-Z]+: `, 'm'))
  expect(err).not.toContain('connection')
  expect([code, out]).toEqual([2, ''])
})

test('an export to a disk that is full says so, and leaves no file', async () => {
  await symlink('/dev/full', join(folder, 'full.keyspec.part'))
  const { code, err } = await run(['export', '--out', 'full.keyspec', ...schema])
  expect(err).toMatch(/full\.keyspec\.part cannot be written: ENOSPC: /)
  expect(code).toBe(2)
  expect(await readdir(folder)).toEqual([])
})

test('a file is read in pieces; one that cannot be is an error with a code and its cause', async () => {
  const path = join(folder, 'bytes')
  await writeFile(path, 'abcdefg')
  const pieces: string[] = []
  for await (const piece of bytesOf(path, 'bytes', 3)) pieces.push(String(piece))
  expect(pieces).toEqual(['abc', 'def', 'g'])
  await rm(path)
  const gone = bytesOf(path, 'bytes', 3).next()
  await expect(gone).rejects.toThrow(FileError)
  await expect(gone).rejects.toMatchObject({ code: 'E_FILE', cause: { code: 'ENOENT' } })
})
