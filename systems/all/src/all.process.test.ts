import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('the five systems run at once on one Redis, and every key they leave is declared', async () => {
  const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [main, '--once', '--seconds', '1'], {
    // Each worker costs a start.
    env: { ...process.env, COURTLISTENER_WORKERS: '1' },
    maxBuffer: 64 << 20,
  })
  const [, table = ''] = stdout.split('The whole keyspace')
  const entries = table.split('\n').map((line) => line.split(' ')[0])
  for (const system of ['courtlistener', 'documents', 'tutor', 'mirrulations', 'movies']) {
    expect(
      entries.some((entry) => entry?.startsWith(`${system}.`)),
      system,
    ).toBe(true)
  }
  expect(entries).not.toContain('(unknown)')
}, 300_000)
