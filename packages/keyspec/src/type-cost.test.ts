import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../../..')

/** One entry of each form, and a use of it. */
const FORMS: [declaration: (n: number) => string, use: (n: number) => string][] = [
  [
    (n) =>
      `e${n}: string('e${n}:<userId>:<at>', json(v.object({ a${n}: v.string() })), { ttl: '1h', params: { at: param.hour }, subject: 'userId' })`,
    (n) => `keys.e${n}({ userId: 1, at: new Date() }).get()`,
  ],
  [
    (n) => `e${n}: mount('m${n}:', { x: string('x:<id*>:<b>', text, { ttl: 'forever', reason: 'b' }) })`,
    (n) => `keys.e${n}.x({ id: 1, b: 2 }).set('x')`,
  ],
  [
    (n) => `e${n}: hash('e${n}:<id>', { a: text, b${n}: integer }, { ttl: '1d' })`,
    (n) => `keys.e${n}({ id: 1 }).update({ b${n}: 1 })`,
  ],
  [
    (n) => `e${n}: sortedSet('e${n}:<id>', text, { ttl: '1d' })`,
    (n) => `keys.e${n}({ id: 1 }).add({ value: 'a', score: 1 })`,
  ],
  [
    (n) => `e${n}: slidingWindow('e${n}:<id>:<kind>', { per: '1m', limits: { a: 1, b: 2 } })`,
    (n) => `keys.e${n}({ id: 1, kind: 'a' }).take()`,
  ],
]

function schemaOf(entries: number): string {
  const each = Array.from({ length: entries }, (_, n) => ({ n, form: FORMS[n % FORMS.length]! }))
  return [
    "import * as v from 'valibot'",
    "import { hash, integer, json, mount, open, param, sortedSet, string, text, type Connection } from 'keyspec'",
    "import { slidingWindow } from 'keyspec/recipes'",
    'declare const connection: Connection',
    `const schema = {\n${each.map(({ n, form: [declare] }) => declare(n)).join(',\n')}\n}`,
    'const keys = open(schema, connection)',
    ...each.map(({ n, form: [, use] }) => `void ${use(n)}`),
    'export {}',
  ].join('\n')
}

/** What the compiler had to instantiate: a count, the same on any machine. */
async function instantiations(entries: number): Promise<number> {
  // Where `keyspec` is found as a user of it would find it, and no build looks for sources.
  const file = path.join(root, `node_modules/.type-cost-${entries}.ts`)
  writeFileSync(file, schemaOf(entries))
  try {
    const options =
      '--noEmit --strict --target es2023 --module nodenext --skipLibCheck --types node --ignoreConfig'
    const tsc = path.join(root, 'node_modules/.bin/tsc')
    const { stdout } = await run(tsc, ['--extendedDiagnostics', ...options.split(' '), file])
    return Number(/Instantiations:\s+(\d+)/.exec(stdout)![1])
  } finally {
    rmSync(file)
  }
}

test('a schema of 300 entries, each of them used, costs the compiler less than 400 instantiations an entry', async () => {
  const [few, many] = await Promise.all([instantiations(5), instantiations(300)])
  expect(few).toBeGreaterThan(0)
  expect((many - few) / 295).toBeLessThan(400)
})
