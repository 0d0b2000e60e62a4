import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** Runs a system's main job to its end. */
async function run(system: string, words: readonly string[], env: Record<string, string> = {}) {
  const main = fileURLToPath(new URL(`../../${system}/program/main.js`, import.meta.url))
  const child = spawn(process.execPath, [main, ...words], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [said, complaint, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  return { code, said, complaint }
}

// What else a command line can get wrong is in the tests of what reads it, which is the same for every system.
test.each([
  ['all', ['--onec'], "Unknown option '--onec'; --help says what there is"],
  ['documents', ['nowhere.pdf'], "no such file or directory, stat 'nowhere.pdf'"],
  ['mirrulations', ['--clients', 'x'], '--clients is "x"; it must be a whole number from 1'],
])('%s %j is answered with one line, before anything is started', async (system, words, line) => {
  let connections = 0
  const redis = createServer((socket) => {
    connections += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(redis, 'listening')
  const { port } = redis.address() as AddressInfo
  const { code, said, complaint } = await run(system, words, { REDIS_URL: `redis://127.0.0.1:${port}` })
  redis.close()
  expect(complaint).toContain(line)
  expect(complaint.trimEnd()).not.toContain('\n')
  expect({ code, said, connections }).toEqual({ code: 2, said: '', connections: 0 })
})

// CourtListener's waits for its Redis, as its own tests show.
test.each(['all', 'documents', 'tutor'])(
  '%s ends with one line where the Redis that it is told to use is down',
  async (system) => {
    const { code, complaint } = await run(system, ['--once'], {
      REDIS_URL: 'redis://me:pa55word@127.0.0.1:1/0',
    })
    expect(complaint).toMatch(
      /^[^\n]*The Redis at 127\.0\.0\.1:1 cannot be reached: [^\n]*ECONNREFUSED[^\n]*\n$/,
    )
    expect(complaint).not.toContain('pa55word')
    expect(code).toBe(1)
  },
)
