import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { pageOf } from '../servers/page.js'
import { readRecords, withRun } from '../servers/record.js'
import { onPath, serverAt, versionIn } from '../servers/server.js'
import { tallyOf } from '../servers/tally.js'
import { root } from '../setup.js'
import { filesIn, textOf } from './tracked.ts'

test('docs/servers.md shows docs/servers.json: if not, run `npm run servers -- --page`', () => {
  expect(textOf('docs/servers.md')).toBe(pageOf(readRecords()))
})

test('a test that is skipped on some machines says in its name what it needs', () => {
  const skips = ['packages', 'systems', 'torture', 'bench', 'test-support', 'scripts']
    .flatMap(filesIn)
    .filter((path) => path.endsWith('.test.ts') && path !== 'scripts/house/servers.test.ts')
    .flatMap((path) =>
      [...textOf(path).matchAll(/\.(?:skipIf|runIf)\([^)]*\)\(\s*(['"`])(.*?)\1,/g)].map(
        ([, , name]) => `${path}: ${name}`,
      ),
    )
  expect(skips.length).toBeGreaterThan(1)
  expect(skips.filter((name) => !/\(needs [^()]+\)$/.test(name))).toEqual([])
})

test('a recorded skip says what it needs', () => {
  const skips = readRecords().flatMap(({ runs }) => runs.flatMap((run) => run.skips))
  expect(skips.filter((name) => !/\(needs [^()]+\)/.test(name))).toEqual([])
})

test.each([
  ['Redis server v=7.0.15 sha=00000000:0 malloc=libc bits=64 build=e9', '/a/redis-server', 'Redis', '7.0.15'],
  ['Valkey server v=8.0.1 sha=0', '/a/redis-server', 'Valkey', '8.0.1'],
  ['Server v=7.2.7 sha=0', '/a/valkey-server', 'Valkey', '7.2.7'],
])('%s', (printed, path, name, version) => {
  expect(versionIn(printed, path)).toEqual({ name, version })
})

test('what is no server is refused', () => {
  expect(() => serverAt(process.execPath)).toThrow(/is no redis-server and no valkey-server/)
  expect(() => serverAt('/nowhere/redis-server')).toThrow(/is no redis-server and no valkey-server/)
})

test('the server comes first on the PATH, under either name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keyspec-servers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const PATH = onPath({ name: 'Redis', version: '0', path: process.execPath }, join(folder, 'bin'))
  for (const name of ['redis-server', 'valkey-server']) {
    const { stdout } = spawnSync(name, ['--version'], { env: { PATH }, encoding: 'utf8' })
    expect(stdout.trim()).toBe(process.version)
  }
})

test('a report is counted by the names of its tests; a file that does not load is a failure', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keyspec-servers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const report = join(folder, 'report.json')
  const results = (...statuses: string[]) => statuses.map((status) => ({ fullName: `is ${status}`, status }))
  writeFileSync(
    report,
    JSON.stringify({
      testResults: [
        {
          name: join(root, 'a.test.ts'),
          status: 'failed',
          assertionResults: results('passed', 'failed', 'skipped', 'pending'),
        },
        { name: join(root, 'b.test.ts'), status: 'failed', assertionResults: [] },
      ],
    }),
  )
  expect(tallyOf(report, 1)).toEqual({
    passed: 1,
    failures: ['a.test.ts: is failed', 'b.test.ts'],
    skips: ['a.test.ts: is skipped', 'a.test.ts: is pending'],
  })
  writeFileSync(report, JSON.stringify({ testResults: [] }))
  expect(tallyOf(report, 1).failures).toEqual(['the run itself'])
  expect(tallyOf(join(folder, 'none.json'), 0).failures).toEqual(['the run itself'])
})

test('a run takes the place of the last one of its project on that server', () => {
  const run = { of: [], date: '2026-01-01', commit: 'abc', passed: 1, failures: [], skips: [] }
  const [redis, valkey] = [
    { name: 'Redis', version: '7.0.15' },
    { name: 'Valkey', version: '8.0.1' },
  ]
  let records = withRun([], valkey, 'tag 8.0.1', { ...run, project: 'slow' })
  records = withRun(records, redis, undefined, { ...run, project: 'quick' })
  records = withRun(records, valkey, undefined, { ...run, project: 'quick' })
  records = withRun(records, valkey, undefined, { ...run, project: 'slow', passed: 2 })
  expect(records).toEqual([
    { server: 'Redis', version: '7.0.15', source: 'not said', runs: [{ ...run, project: 'quick' }] },
    {
      server: 'Valkey',
      version: '8.0.1',
      source: 'tag 8.0.1',
      runs: [
        { ...run, project: 'quick' },
        { ...run, project: 'slow', passed: 2 },
      ],
    },
  ])
  const page = pageOf(records)
  expect(page).toContain('| Redis 7.0.15 | not said | slow |  | not run |')
  expect(page).toContain('| Valkey 8.0.1 | tag 8.0.1 | slow | all folders | 2 | 0 | 0 | 2026-01-01 | abc |')
})

test.each([
  [['--fast'], 2, /Unknown option '--fast'/],
  [['--project'], 2, /--project/],
  [[], 1, /^Name a server/],
  [['--project', 'fast', '/bin/true'], 1, /^There is no project fast/],
  [['--source', 'a tag', '/bin/true', '/bin/false'], 1, /^--source is about one server/],
  [['/bin/true'], 1, /^\/bin\/true is no redis-server/],
] as const)('npm run servers -- %j stops with one line', (words, code, said) => {
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    [join(root, 'scripts/servers.js'), ...words],
    {
      encoding: 'utf8',
    },
  )
  expect(stderr.trimEnd().split('\n')).toEqual([expect.stringMatching(said)])
  expect([status, stdout]).toEqual([code, ''])
})

test('the page is linked where one looks', () => {
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain('](docs/servers.md)')
  expect(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')).toContain('](docs/servers.md)')
})
