import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { keyspec } from '../../../test-support/command-line.ts'
import { commands } from './command-list.ts'

let sound: TemporaryRedis
let faulty: TemporaryRedis
let folder: string
const value = '{"user":"a","cart":[]}'
// The same for all tests: the export is compared with the server.
const endsAt = Date.now() + 1_800_000
beforeAll(async () => {
  ;[sound, faulty] = await Promise.all([startRedis({ port: 'any' }), startRedis({ port: 'any' })])
  // Inside the repository, so that a schema in it finds `keyspec`.
  folder = await mkdtemp(join(import.meta.dirname, '../../../node_modules/.exit-'))
  const flawed = `{ a: string('x:<id>', text, { ttl: '1h' }), b: string('x:y', text, { ttl: '1h' }) }`
  const lines = [`import { string, text } from 'keyspec'`, `export const schema = ${flawed}`]
  await writeFile(join(folder, 'flawed.mjs'), lines.join('\n'))
  await writeFile(join(folder, 'manifest.json'), (await keyspec(['manifest'])).out)
  await sound.command('SET', 'shop:session:1', value, 'PXAT', endsAt)
  const exported = await keyspec(['export', '--out', join(folder, 'keys.keyspec'), '--force'], {
    env: { REDIS_URL: sound.url },
  })
  expect(exported.code, exported.err).toBe(0)
  await writeFile(join(folder, 'stale.md'), '<!-- keyspec:begin -->\n\nno page\n\n<!-- keyspec:end -->\n')
})
afterAll(() => Promise.all([sound.stop(), faulty.stop(), rm(folder, { recursive: true })]))

beforeEach(async () => {
  await Promise.all([sound.command('FLUSHALL'), faulty.command('FLUSHALL')])
  await sound.command('SET', 'shop:session:1', value, 'PXAT', endsAt)
  await faulty.command('SET', 'shop:session:1', value)
  await faulty.command('SET', 'shop:stray', 'x')
  for (const name of ['session:4', 'sess:4']) await faulty.command('SET', `shop:${name}`, value, 'EX', 900)
  await faulty.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru', 'maxmemory', '100mb')
  // It may connect, and do nothing.
  for (const server of [sound, faulty])
    await server.command(
      'ACL',
      'SETUSER',
      'nobody',
      'on',
      '>pw',
      '-@all',
      '+ping',
      '+hello',
      '+auth',
      '+client',
    )
})

/** One call: its words, on which server, and what is typed. Words in capitals are files and addresses. */
type Case = readonly [words: string, on?: 'sound' | 'faulty' | 'renaming', typed?: string]

/** Every command, and a call for each exit code that it has. */
const table: Readonly<Record<string, Partial<Record<0 | 1 | 2 | 3 | 130, readonly Case[]>>>> = {
  check: {
    0: [['check']],
    1: [['check --schema FLAWED']],
    2: [['check --schema NONE']],
    3: [['check --against MANIFEST --server --url DOWN']],
    130: [],
  },
  manifest: { 0: [['manifest']], 2: [['manifest --schema NONE']] },
  docs: { 0: [['docs']], 1: [['docs --out STALE --check']], 2: [['docs --check']] },
  audit: {
    0: [['audit']],
    1: [['audit', 'faulty']],
    2: [['audit --baseline NONE'], ['audit FILE']],
    3: [['audit --url DOWN'], ['audit --url NOBODY']],
    130: [['audit']],
  },
  stats: {
    0: [['stats'], ['stats', 'faulty']],
    2: [['stats --by size']],
    3: [['stats --url DOWN'], ['stats --url NOBODY']],
    130: [['stats --exact']],
  },
  doctor: {
    0: [['doctor']],
    1: [['doctor', 'faulty']],
    2: [['doctor more']],
    3: [['doctor --url DOWN']],
    130: [['doctor']],
  },
  explain: {
    0: [['explain shop:session:1']],
    1: [
      ['explain shop:session:1', 'faulty'],
      ['explain shop:stray', 'faulty'],
    ],
    2: [['explain']],
    3: [['explain shop:session:1 --url DOWN'], ['explain shop:session:1 --url NOBODY']],
    130: [],
  },
  erase: {
    0: [['erase --all --yes'], ['erase --all --dry-run'], ['erase --all', 'sound', 'erase']],
    1: [['erase --all', 'sound', 'no']],
    2: [['erase'], ['erase --all'], ['erase --entry none']],
    3: [['erase --all --yes --url DOWN'], ['erase --all --yes --url NOBODY']],
    130: [['erase --all --yes']],
  },
  cleanup: {
    0: [['cleanup'], ['cleanup --repair --yes'], ['cleanup --repair --dry-run', 'faulty']],
    1: [
      ['cleanup', 'faulty'],
      ['cleanup --repair', 'faulty', 'no'],
    ],
    2: [['cleanup --repair', 'faulty'], ['cleanup --idle soon']],
    3: [['cleanup --url DOWN'], ['cleanup --url NOBODY']],
    130: [['cleanup --repair --yes', 'faulty']],
  },
  migrate: {
    0: [
      ['migrate run --yes', 'renaming'],
      ['migrate rollback --yes'],
      ['migrate run', 'renaming', 'migrate'],
    ],
    1: [
      ['migrate plan', 'faulty'],
      ['migrate verify', 'renaming'],
      ['migrate run --yes', 'faulty'],
      ['migrate run', 'renaming', 'no'],
    ],
    2: [['migrate'], ['migrate run', 'renaming'], ['migrate run --keep old']],
    3: [['migrate plan --url DOWN'], ['migrate run --yes --url NOBODY']],
    130: [['migrate run --yes', 'renaming']],
  },
  export: {
    0: [['export --out NEW']],
    2: [['export'], ['export --out FILE']],
    3: [['export --out NEW --url DOWN'], ['export --out NEW --url NOBODY']],
    130: [['export --out NEW']],
  },
  import: {
    0: [['import FILE --inspect'], ['import FILE --on-conflict skip --yes', 'faulty']],
    1: [['import FILE --yes'], ['import STALE --yes'], ['import FILE --on-conflict replace', 'sound', 'no']],
    2: [['import'], ['import NONE'], ['import FILE --on-conflict replace']],
    3: [['import FILE --yes --url DOWN'], ['import FILE --yes --url NOBODY']],
    130: [['import FILE --on-conflict replace --yes']],
  },
  copy: {
    0: [['copy --to FAULTY --on-conflict skip --yes'], ['copy --to FAULTY --entry stock']],
    1: [['copy --to FAULTY --yes'], ['copy --to FAULTY --on-conflict replace', 'sound', 'no']],
    2: [['copy'], ['copy --to FAULTY --on-conflict replace'], ['copy --to nothing']],
    3: [['copy --to DOWN --yes'], ['copy --to FAULTY --yes --url DOWN'], ['copy --to NOBODY --yes']],
    130: [['copy --to FAULTY --on-conflict replace --yes']],
  },
  diff: {
    0: [['diff SOUND'], ['diff FILE']],
    1: [['diff FAULTY'], ['diff STALE']],
    2: [['diff'], ['diff NONE'], ['diff http://elsewhere']],
    3: [['diff DOWN'], ['diff SOUND --url DOWN'], ['diff SOUND --url NOBODY']],
    130: [['diff FAULTY']],
  },
}

const NAMED: Readonly<Record<string, () => string>> = {
  FLAWED: () => join(folder, 'flawed.mjs'),
  STALE: () => join(folder, 'stale.md'),
  MANIFEST: () => join(folder, 'manifest.json'),
  FILE: () => join(folder, 'keys.keyspec'),
  NEW: () => join(folder, `${Math.random().toString(36).slice(2)}.keyspec`),
  NONE: () => join(folder, 'none'),
  SOUND: () => sound.url,
  FAULTY: () => faulty.url,
  DOWN: () => 'redis://127.0.0.1:1',
  NOBODY: () => sound.url.replace('://', '://nobody:pw@'),
}

const cases = Object.entries(table).flatMap(([name, codes]) =>
  Object.entries(codes).flatMap(([code, calls]) =>
    calls.map(([words, on = 'sound', typed]) => ({ name, code: Number(code), words, on, typed })),
  ),
)

describe.each(cases)(
  'keyspec $words, on a server that is $on, $typed typed',
  ({ words, on, typed, code }) => {
    test(`ends with ${code}`, async () => {
      if (on === 'renaming') await sound.command('SET', 'shop:sess:3', value, 'EX', 900)
      const ran = await keyspec(
        words.split(' ').map((word) => NAMED[word]?.() ?? word),
        {
          env: { REDIS_URL: on === 'faulty' ? faulty.url : sound.url },
          ...(typed === undefined ? {} : { answer: typed }),
          ...(code === 130 ? { signal: AbortSignal.abort() } : {}),
        },
      )
      expect(ran.code, ran.err).toBe(code)
      // Whoever misused it is told, and so is whoever could not be served.
      if (code > 1) expect(ran.err).not.toBe('')
    })
  },
)

test('the table has every command, with every exit code that its options lead to', async () => {
  for (const [name, { load }] of Object.entries(commands)) {
    const { options } = await load()
    const least = [0, 2]
    if ('url' in options) least.push(3, 130)
    if ('yes' in options) least.push(1)
    const missing = least.filter((code) => !(String(code) in (table[name] ?? {})))
    expect(missing, name).toEqual([])
  }
})
