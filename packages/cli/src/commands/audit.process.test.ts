import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixture } from '../../../../test-support/command-line.ts'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'

// Memory must not grow with the keys, so a tenth of a million shows it as well; KEYSPEC_TEST_KEYS=1000000 takes minutes.
const KEYS = Number(process.env['KEYSPEC_TEST_KEYS'] ?? 100_000)
const bin = join(import.meta.dirname, '../../bin/keyspec.js')

let redis: TemporaryRedis

beforeAll(async () => {
  redis = await startRedis()
  // What one server may hold: sound keys, faulty ones of every kind, and strays under hundreds of thousands of prefixes.
  const line = `
    local function letter(digit) return string.char(97 + digit) end
    for at = ARGV[1], ARGV[2] do
      local kind = at % 10
      if kind == 0 then redis.call('SET', 'shop:session:' .. at, '{"user":"u","cart":[1,2]}', 'EX', 3000)
      elseif kind == 1 then redis.call('HSET', 'shop:profile:' .. at, 'name', 'n', 'visits', at)
      elseif kind == 2 then redis.call('RPUSH', 'shop:viewed:' .. at, 1, 'x') redis.call('EXPIRE', 'shop:viewed:' .. at, 60000)
      elseif kind < 7 then redis.call('SET', 'shop:' .. string.gsub(tostring(at), '%d', letter) .. ':' .. at, 'x')
      else redis.call('SET', 'shop:*[' .. at .. '\\0\\255', 'x') end
    end`
  for (let at = 0; at < KEYS; at += 20_000) await redis.command('EVAL', line, '0', at, at + 19_999)
  await redis.command('SETRANGE', 'shop:session:large', 10 * 2 ** 20, 'x')
}, 200_000)

afterAll(() => redis.stop())

/** Runs the command in a process of its own, and gives what it came to and the most memory that it ever had. */
async function ran(words: readonly string[]): Promise<{ code: number; lines: any[]; mostKb: number }> {
  const child = spawn(process.execPath, [bin, ...words, '--json', '--max-load', '1'], {
    cwd: fixture,
    env: { ...process.env, REDIS_URL: redis.url },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  let mostKb = 0
  // The high-water mark only grows, so the last look before its end is what counts.
  const watching = setInterval(() => (mostKb = Math.max(mostKb, mostMemoryOf(child))), 50)
  child.stdout.on('data', (chunk: Buffer) => {
    mostKb = Math.max(mostKb, mostMemoryOf(child))
    out += chunk.toString()
  })
  const [code] = (await once(child, 'close')) as [number]
  clearInterval(watching)
  const lines = out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  return { code, lines, mostKb }
}

function mostMemoryOf({ pid }: ChildProcess): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

test(
  'hundreds of thousands of keys are audited and counted within 200 MB each',
  { timeout: 400_000 },
  async () => {
    const [audited, counted] = await Promise.all([
      ran(['audit']),
      ran(['stats', '--exact', '--by', 'prefix']),
    ])
    expect([audited.code, counted.code]).toEqual([1, 0])
    const found = Object.fromEntries(
      audited.lines.map(({ code, pattern, count }) => [`${code} ${pattern}`, count]),
    )
    expect(found).toMatchObject({
      'no-ttl shop:profile:<userId>': KEYS / 10,
      'undecodable shop:viewed:<userId>': KEYS / 10,
      'unknown-key shop:<bytes>': (KEYS / 10) * 3,
      'unknown-key shop:<name>:<n>': (KEYS / 10) * 4,
    })
    expect(audited.lines.at(-1)).toMatchObject({
      keys: KEYS + 1,
      decoded: (KEYS / 10) * 3 + 1,
      notDecoded: 1,
    })

    const [{ all, groups, biggest }] = counted.lines
    expect(all.keys.value).toBe(KEYS + 1)
    expect(groups.length).toBeLessThanOrEqual(501)
    expect(biggest[0]).toMatchObject({ key: 'shop:session:large', entry: 'session' })

    for (const { mostKb } of [audited, counted]) {
      expect(mostKb).toBeGreaterThan(10_000)
      expect(mostKb).toBeLessThan(200 * 1024)
    }
  },
)
