import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually, startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { keyspec, type RunOptions } from '../../../../test-support/command-line.ts'
import { commands } from '../command-list.ts'

let here: TemporaryRedis
let there: TemporaryRedis
let folder: string
beforeAll(async () => {
  ;[here, there] = await Promise.all([startRedis(), startRedis({ port: 'any' })])
  folder = await mkdtemp(join(tmpdir(), 'keyspec-confirm-'))
})
afterAll(async () => {
  await Promise.all([here.stop(), there.stop(), rm(folder, { recursive: true })])
})

const WORDS = {
  erase: 'erase',
  cleanup: 'cleanup',
  run: 'migrate',
  rollback: 'rollback',
  import: 'import',
  copy: 'copy',
}

type State = 'plain' | 'conflicts' | 'moved'

/** Every command that changes a server, with each of its options that decides what it changes. */
const cases: readonly (readonly [words: string, typed: keyof typeof WORDS, state?: State])[] = [
  ['erase --all', 'erase'],
  ['erase --all --external', 'erase'],
  ['erase --all --rate 1000', 'erase'],
  ['erase --all --json', 'erase'],
  ['erase --entry session', 'erase'],
  ['erase --under session:', 'erase'],
  ['erase --subject userId=1', 'erase'],
  ['erase --subject userId=1 --subject endpoint=ask', 'erase'],
  ['cleanup --repair', 'cleanup'],
  ['cleanup --cap', 'cleanup'],
  ['cleanup --repair --cap --json', 'cleanup'],
  ['cleanup --entry session --repair', 'cleanup'],
  ['cleanup --entry session --idle 1s', 'cleanup'],
  ['cleanup --under session: --repair', 'cleanup'],
  ['cleanup --subject userId=1 --repair', 'cleanup'],
  ['migrate run', 'run'],
  ['migrate run --json', 'run'],
  ['migrate run --entry session', 'run'],
  ['migrate run --under sess', 'run'],
  ['migrate run --keep new', 'run'],
  ['migrate run --keep new', 'run', 'conflicts'],
  ['migrate run --keep new --entry session', 'run', 'conflicts'],
  ['migrate rollback', 'rollback', 'moved'],
  ['migrate rollback --entry session', 'rollback', 'moved'],
  ['migrate rollback --renamed-from sess:<userId>', 'rollback', 'moved'],
  ['import FILE', 'import'],
  ['import FILE --on-conflict replace', 'import'],
  ['import FILE --on-conflict skip', 'import'],
  ['import FILE --json', 'import'],
  ['import FILE --strip shop: --add shop:old:', 'import'],
  ['copy --to URL', 'copy'],
  ['copy --to URL --entry session', 'copy'],
  ['copy --to URL --subject userId=1', 'copy'],
  ['copy --to URL --under session:', 'copy'],
  ['copy --to URL --on-conflict replace', 'copy'],
  ['copy --to URL --on-conflict skip', 'copy'],
  ['copy --to URL --json', 'copy'],
]

const value = '{"user":"a","cart":[]}'

/** A server with something to do for every case. */
async function fill(state: State) {
  await Promise.all([here.command('FLUSHALL'), there.command('FLUSHALL')])
  if (state === 'conflicts') {
    for (const name of ['session:1', 'sess:1']) await here.command('SET', `shop:${name}`, value, 'EX', 900)
    return
  }
  for (const id of [1, 2]) await here.command('SET', `shop:session:${id}`, value)
  if (state === 'moved') return
  await here.command('SET', 'shop:sess:3', value, 'EX', 900)
  await here.command('SET', 'shop:rate:1:ask', '1', 'EX', 30)
  await here.command('SET', 'shop:cache:page:a', 'a page', 'EX', 90_000)
  await here.command('SET', 'shop:cron:x', 'a lock')
}

/** Everything that a server holds: names, bytes, and whether there is a time to live, in whole hours. */
async function contents(server: TemporaryRedis) {
  const names = (await server.command('KEYS', '*')) as string[]
  const keys = names.toSorted().map(async (name) => {
    const bytes = (await server.commandBuffer('DUMP', name)) as Buffer
    const left = Number(await server.command('PTTL', name))
    return [name, bytes.toString('hex'), left < 0 ? left : Math.ceil(left / 3_600_000)]
  })
  return Promise.all(keys)
}
async function everything(words = '') {
  const both = [await contents(here), await contents(there)]
  if (words.includes('--idle')) {
    // The look itself made the keys busy, and the server counts idle time in whole seconds.
    await eventually(async () => {
      expect(await here.command('OBJECT', 'IDLETIME', 'shop:session:1')).toBeGreaterThan(1)
    })
  }
  return both
}

async function run(words: string, options: RunOptions = {}) {
  const file = join(folder, 'keys.keyspec')
  const given = words.split(' ').map((word) => (word === 'FILE' ? file : word === 'URL' ? there.url : word))
  return keyspec([...given, '--max-load', '1'], { ...options, env: { REDIS_URL: here.url } })
}

/** An import goes to a server that lacks a key of the file and, where it may replace one, holds another value of it. */
async function prepare(words: string, state: State = 'plain') {
  await fill(state)
  if (!words.startsWith('import')) return
  const { code, err } = await run('export --out FILE --force')
  expect(code, err).toBe(0)
  if (words.includes('--on-conflict')) await here.command('SET', 'shop:session:1', 'another value')
  else await here.command('FLUSHALL')
  await here.command('UNLINK', 'shop:session:2')
}

const named = cases.map(([words, typed, state]) => ({ words, typed, state }))

describe.each(named)('keyspec $words', ({ words, typed, state }) => {
  beforeEach(() => prepare(words, state))

  test('changes nothing without --yes where nobody can be asked', async () => {
    const before = await everything(words)
    const { code, err } = await run(words)
    expect(err).toContain('--yes does it without asking')
    expect(code).toBe(2)
    expect(await everything()).toEqual(before)
  })

  test('changes nothing when another word is typed', async () => {
    const before = await everything(words)
    for (const answer of ['', 'yes', WORDS[typed].toUpperCase()]) {
      const { code, err } = await run(words, { answer })
      expect(err).toContain(`"${WORDS[typed]}" was not typed`)
      expect(code).toBe(1)
    }
    expect(await everything()).toEqual(before)
  })

  test('changes nothing in a dry run, and asks nothing', async () => {
    const before = await everything(words)
    const { err } = await run(`${words} --dry-run`)
    expect(err).not.toContain('without asking')
    expect(await everything()).toEqual(before)
  })

  test.each([
    ['with --yes', ' --yes', {}],
    ['when the word is typed', '', { answer: WORDS[typed] }],
  ])('does what it says %s', async (_how, yes, options) => {
    const before = await everything(words)
    const { code, err } = await run(words + yes, options)
    expect([0, 1], err).toContain(code)
    expect(await everything()).not.toEqual(before)
  })
})

test('the table has every command that takes --yes', async () => {
  const asking: string[] = []
  for (const [name, { load }] of Object.entries(commands)) {
    if ('yes' in ((await load()).options ?? {})) asking.push(name)
  }
  expect([...new Set(cases.map(([words]) => words.split(' ')[0]))].toSorted()).toEqual(asking.toSorted())
})

/** Options of these commands that decide nothing about which keys are changed, or how. */
const NEUTRAL = new Set(
  'config schema prefix url cluster sentinel max-load to-cluster yes dry-run inspect expect sample'.split(
    ' ',
  ),
)

test('the table has every option of theirs that decides what is changed', async () => {
  const missing: string[] = []
  for (const [name, { load }] of Object.entries(commands)) {
    const { options } = await load()
    if (!('yes' in options)) continue
    const used = cases
      .filter(([words]) => words.startsWith(`${name} `))
      .flatMap(([words]) => words.split(' '))
    for (const option of Object.keys(options))
      if (!NEUTRAL.has(option) && !used.includes(`--${option}`)) missing.push(`${name} --${option}`)
  }
  expect(missing).toEqual([])
})
