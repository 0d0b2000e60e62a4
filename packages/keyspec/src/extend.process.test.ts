import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRedis, type TemporaryRedis } from './testing/index.ts'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

let folder: string
let redis: TemporaryRedis
beforeAll(async () => {
  redis = await startRedis()
  folder = mkdtempSync(join(tmpdir(), 'keyspec-extend-'))
  await install(folder)
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await redis.stop()
})

test('a codec, a kind, a recipe and an adapter outside the repository need the packed package alone', async () => {
  // Compiles the program against the packed types, then runs it on a real server.
  const options = [
    '--ignoreConfig',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    'node',
  ]
  const forms = [
    '--exactOptionalPropertyTypes',
    '--rewriteRelativeImportExtensions',
    '--verbatimModuleSyntax',
  ]
  const places = ['--typeRoots', join(root, 'node_modules/@types'), '--outDir', join(folder, 'made')]
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const words = [...options, ...forms, ...places, join(folder, 'main.ts')]
  await run(process.execPath, [tsc, ...words], { cwd: folder }).catch((error: unknown) => {
    throw new Error((error as { stdout: string }).stdout)
  })
  const { stdout } = await run(process.execPath, ['made/main.js', redis.socket], { cwd: folder })
  const seen = JSON.parse(stdout) as { points: number }
  expect(seen).toEqual({
    points: expect.any(Number),
    broken: [],
    token: '0f8fad5b-d9cb-469f-a165-70867728950e',
    raised: [true, false],
    count: 1,
    isRaised: true,
    allowed: 2,
    refusal: 'E_KEY',
    days: ['1', '2'],
  })
  expect(seen.points).toBeGreaterThan(10)
  const stored = await redis.commandBuffer('GET', 'ext:token:1')
  expect(stored).toEqual(Buffer.from('0f8fad5bd9cb469fa16570867728950e', 'hex'))
  for (const key of ['ext:token:1', 'ext:seen:1', 'ext:calls:a'])
    expect(await redis.command('PTTL', key), key).toBeGreaterThan(0)
})

/** Puts the program into a folder, with the package as npm packs it and what it depends on. */
async function install(into: string): Promise<void> {
  cpSync(join(import.meta.dirname, '../fixture/extension'), into, { recursive: true })
  writeFileSync(join(into, 'package.json'), '{ "type": "module" }')
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', into], {
    cwd: join(import.meta.dirname, '..'),
    shell: process.platform === 'win32',
  })
  const tarball = readdirSync(into).find((name) => name.endsWith('.tgz'))!
  const home = join(into, 'node_modules/keyspec')
  mkdirSync(home, { recursive: true })
  await run('tar', ['-xzf', join(into, tarball), '-C', home, '--strip-components', '1'])
  const dependency = join(into, 'node_modules/@standard-schema/spec')
  mkdirSync(dirname(dependency), { recursive: true })
  symlinkSync(join(root, 'node_modules/@standard-schema/spec'), dependency)
}
