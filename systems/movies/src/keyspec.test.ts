import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startRedis } from 'keyspec/testing'
import { expect, test } from 'vitest'
import { keyspec } from '../../../test-support/command-line.ts'

const cwd = fileURLToPath(new URL('..', import.meta.url))

test('the README’s page of keys is what the schema declares', async () => {
  expect(await keyspec(['docs', '--check'], { cwd })).toMatchObject({ code: 0, out: 'README.md is fresh\n' })
})

test('nothing is wrong with the schema', async () => {
  expect(await keyspec(['check', '--strict'], { cwd })).toMatchObject({ code: 0, out: '' })
})

test('the manifest is of today, and a change of prompts, model, sampling or schema under the same N fails', async () => {
  const against = ['check', '--against', 'manifest.json']
  expect(await keyspec(against, { cwd })).toMatchObject({ code: 0, out: '' })
  const folder = await mkdtemp(join(tmpdir(), 'movies-'))
  const before = await readFile(join(cwd, 'manifest.json'), 'utf8')
  // As if the manifest had been made before the prompts were changed to what they are.
  const changed = before.replace(/(?<="digest": ")[0-9a-f]{64}/, '0'.repeat(64))
  expect(changed).not.toBe(before)
  await writeFile(join(folder, 'manifest.json'), changed)
  const { code, out } = await keyspec(['check', '--against', join(folder, 'manifest.json')], { cwd })
  await rm(folder, { recursive: true })
  expect(code).toBe(1)
  expect(out).toContain('needs a version bump fingerprint-changed: queryUnderstanding')
})

test('a doctor finds the server as declared, and says what to change where it is not', async () => {
  const redis = await startRedis({ config: { maxmemory: '450mb', 'maxmemory-policy': 'volatile-lru' } })
  const doctor = () => keyspec(['doctor', '--strict'], { cwd, env: { REDIS_URL: redis.url } })
  try {
    expect(await doctor()).toMatchObject({ code: 0, err: 'the server fits the declaration\n' })
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    await redis.command('CONFIG', 'SET', 'maxmemory', '0')
    await redis.command('CONFIG', 'SET', 'save', '900 1')
    const { code, out } = await doctor()
    expect(code).toBe(1)
    // The trending films must stay: they come back once a day only.
    expect(out).toContain(
      'evicts-kept: allkeys-lru evicts, as soon as maxmemory is set, keys that must not be: trending',
    )
    for (const line of ['maxmemory 500mb', 'maxmemory-policy volatile-lru', 'save ""'])
      expect(out).toContain(`  redis-cli -s ${redis.socket} CONFIG SET ${line}\n  redis.conf: ${line}\n`)
  } finally {
    await redis.stop()
  }
})
