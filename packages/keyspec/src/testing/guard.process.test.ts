import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { eventually } from './eventually.ts'

let root: string
beforeAll(() => {
  root = mkdtempSync(join(realpathSync(tmpdir()), 'guard-'))
})
afterAll(() => rmSync(root, { recursive: true }))

describe('nothing is left of any Redis when the process that started it', () => {
  test('is killed with -9, whatever each server was doing', async () => {
    const program = await run(`
      await startRedis()
      const paused = await startRedis()
      paused.pause()
      const killed = await startRedis()
      await killed.kill()
      const restarted = await startRedis()
      await restarted.restart()
      for (let i = 0; i < 8; i += 1) startRedis().catch(() => {}) // will be somewhere on their way
    `)
    expect(readdirSync(root).length).toBeGreaterThanOrEqual(4)
    await program.end('SIGKILL')
    await eventually(() => expect(leftovers()).toEqual([]))
  })

  test('is interrupted at the terminal, which signals the whole group', async () => {
    const program = await run('await startRedis()')
    await program.end('SIGINT')
    await eventually(() => expect(leftovers()).toEqual([]))
  })

  test('throws', async () => {
    const program = await run(`await startRedis(); setImmediate(() => { throw new Error('on purpose') })`)
    expect(await program.ended).toBe(1)
    await eventually(() => expect(leftovers()).toEqual([]))
  })

  test('comes to its end without stopping it, which does not keep it from ending', async () => {
    const program = await run(`await (await startRedis()).command('PING'); clearInterval(stay)`)
    expect(await program.ended).toBe(0)
    await eventually(() => expect(leftovers()).toEqual([]))
  })
})

/** Runs lines in a Node process of its own, which then stays, and comes back when they are done. */
async function run(lines: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', source(lines)], {
    env: { ...process.env, TMPDIR: root },
    detached: true, // a process group of its own, as a shell gives to each of its jobs
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  const ended = once(child, 'exit').then(([code]: (number | null)[]) => code)
  const ready = once(child.stdout, 'data')
  await Promise.race([
    ready,
    ended.then((code) => Promise.reject(new Error(`ended with ${code}: ${complaint}`))),
  ])
  return {
    ended,
    async end(signal: NodeJS.Signals) {
      process.kill(-Number(child.pid), signal)
      await ended
    },
  }
}

/** They have the library as it was compiled for the tests. */
function source(lines: string): string {
  return `
    const stay = setInterval(() => {}, 1000)
    const { startRedis } = await import(${JSON.stringify(join(inject('library'), 'testing/redis.js'))})
    ${lines}
    process.stdout.write('ready')
  `
}

/** The processes that work in the directory for temporary files, and the files in it. */
function leftovers(): string[] {
  const { stdout } = spawnSync('ps', ['-eo', 'stat=,args='], { encoding: 'utf8' })
  const processes = stdout.split('\n').filter((line) => line.includes(`${root}/`) && !line.startsWith('Z'))
  return [...processes, ...readdirSync(root)]
}
