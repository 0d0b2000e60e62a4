import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, expect, test } from 'vitest'
import { eventually } from 'keyspec/testing'
import { PLANTS } from './plant/plants.ts'

const folder = join(import.meta.dirname, '..')
beforeAll(() => void execFileSync(process.execPath, [join(folder, 'build.js')]))

// So long as this only where other programs keep the machine busy.
const PATIENT = { timeout: 400_000 }

async function torture(...words: string[]) {
  const child = spawn(process.execPath, [join(folder, 'dist/main.js'), ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number]>])
  return { said, code }
}

test('every promise holds that is not known to be broken', PATIENT, async () => {
  const { said, code } = await torture('--topology', 'standalone', '--seconds', '12', '--seed', '20240917')
  expect(said).toMatch(/standalone: [1-9]\d{3,} operations/)
  expect(said, said).not.toContain('VIOLATION')
  expect(code).toBe(0)
})

// Of each topology a few faults only, those that it alone can suffer first: they mostly wait, so they run side by side.
test.concurrent.each([
  ['secured', 'kill-connections,cut,lose-reply'],
  ['sentinel', 'kill-primary'],
  ['cluster', 'hand-over,move-slots'],
])('every promise holds over the topology %s', PATIENT, async (name, faults) => {
  const { said, code } = await torture(
    '--topology',
    name,
    '--seconds',
    '8',
    '--seed',
    '7',
    '--faults',
    faults,
  )
  if (said.includes(`${name}: skipped:`)) return
  expect(said).toMatch(new RegExp(`${name}: [1-9]\\d\\d+ operations`))
  expect(said, said).not.toContain('VIOLATION')
  expect(code).toBe(0)
})

test('every planted bug is reported', PATIENT, async () => {
  const words = ['--topology', 'standalone', '--seconds', '10', '--seed', '7', '--plant', 'all']
  const { said, code } = await torture(...words, '--faults', 'read-only,flap,kill-import')
  const reported = said.matchAll(/(?:VIOLATION|known to be broken): (\S+),/g)
  expect(Array.from(reported, ([, invariant]) => invariant)).toEqual(expect.arrayContaining([...PLANTS]))
  expect(code).toBe(1)
})

test('nothing that was started is left after an interrupt', PATIENT, async () => {
  const words = [
    '--topology',
    'standalone',
    '--seconds',
    '60',
    '--seed',
    '1',
    '--faults',
    'stop-process,stop-server',
  ]
  const child = spawn(process.execPath, [join(folder, 'dist/main.js'), ...words], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  await eventually(() => expect(childrenOf(child.pid).filter(isActor)).toHaveLength(4), { within: '30s' })
  const started = childrenOf(child.pid).map(({ pid }) => pid)
  child.kill('SIGINT')
  expect(await ended).toEqual([130, null])
  await eventually(() => expect(started.filter(isRunning)).toEqual([]), { within: '20s' })
})

interface Listed {
  readonly pid: number
  readonly parent: number
  readonly words: string
}

function childrenOf(parent: number | undefined): Listed[] {
  const { stdout } = spawnSync('ps', ['-Ao', 'pid=,ppid=,args='], { encoding: 'utf8' })
  return stdout
    .split('\n')
    .map((line) => /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? [])
    .map(([, pid, parent, words = '']) => ({ pid: Number(pid), parent: Number(parent), words }))
    .filter((listed) => listed.parent === parent)
}

function isActor({ words }: Listed): boolean {
  return words.includes('actor.js')
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
