import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as keyspec from '../../packages/keyspec/src/index.ts'
import * as recipes from '../../packages/keyspec/src/recipe/index.ts'
import { mount, type Schema, validate } from '../../packages/keyspec/src/schema.ts'
import { filesIn, textOf } from './tracked.ts'

// The first lines of an example declare entries, the others use them. What stands for the program around it is here.
const AROUND = `
import * as v from 'valibot'
const [Ocr, Topic, Mail] = [v.any(), v.any(), v.any()]
declare const id: string, room: string, userId: string, sessionId: string, file: Buffer, topic: unknown
declare const candidates: string[], lastModified: Date, request: { ip: string }, log: { warn(words: string): void }
declare function recognise(file: Buffer): Promise<unknown>
declare function buildReport(how: { signal: AbortSignal }): Promise<string>
declare function later(ms: number): void
declare function tooMany(ms: number): void
declare function retryIn(ms: number): void
`
const root = path.resolve(import.meta.dirname, '../..')
const library = path.join(root, 'packages/keyspec/dist')

interface Example {
  readonly file: string
  readonly builder: string
  readonly schema: string
  readonly usage: string
}
const examples = ['kind', 'recipe']
  .flatMap((folder) => filesIn(`packages/keyspec/src/${folder}`))
  .flatMap(examplesIn)

let folder: string
const opened = new Map<string, Schema>()
beforeAll(async () => {
  // Inside the repository, so that the examples find what they import.
  folder = mkdtempSync(path.join(root, 'node_modules/.examples-'))
  mkdirSync(path.join(folder, 'made'))
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }')
  const files = examples.map((example) => {
    const file = path.join(folder, `${example.builder}.ts`)
    writeFileSync(file, programOf(example))
    return file
  })
  const options = [
    '--ignoreConfig',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    'node',
    '--skipLibCheck',
  ]
  const tsc = path.join(root, 'node_modules/.bin/tsc')
  const made = path.join(folder, 'made')
  await promisify(execFile)(tsc, [...options, '--outDir', made, ...files]).catch((error: unknown) => {
    throw new Error((error as { stdout: string }).stdout)
  })
  for (const { builder } of examples) {
    const program = (await import(pathToFileURL(path.join(made, `${builder}.js`)).href)) as { schema: Schema }
    opened.set(builder, program.schema)
  }
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true }))

test('every kind and recipe has an example', () => {
  const builders = [...Object.keys(recipes), 'hash', 'list', 'set', 'sortedSet', 'stream', 'counter']
  const without = builders.filter((name) => !examples.some(({ builder }) => builder === name))
  expect(without).toEqual(['celeryResults', 'rateLimitHeaders'])
})

test.each(examples.map(({ builder, file }) => [builder, file]))(
  'the example of %s compiles, and opens',
  (builder) => {
    expect(Object.keys(opened.get(builder)!)).not.toEqual([])
    expect(() => validate(opened.get(builder)!)).not.toThrow()
  },
)

test('the examples of a lock and of a cache with its own lock stand in one schema', () => {
  const together = ['lock', 'cache', 'fixedWindow', 'slidingWindow', 'bullmq', 'celery', 'workQueue', 'quota']
  const schema = Object.fromEntries(together.map((name) => [name, mount('', opened.get(name)!)]))
  expect(() => validate({ ...schema, results: recipes.celeryResults() })).not.toThrow()
})

/** The example before each exported builder of a file. */
function examplesIn(file: string): Example[] {
  if (!file.endsWith('.ts') || /\.test(-d)?\.ts$/.test(file)) return []
  const docstrings = textOf(file).matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\nexport function (\w+)/g)
  return [...docstrings].flatMap(([, words, builder]) => {
    const text = /@example\n([^]*)$/.exec(words!)?.[1]
    if (text === undefined || !/^ \* (?:const )?\w+(?: =|:) /.test(text) || builder === 'rateLimitHeaders')
      return []
    const lines = text.split('\n').map((line) => line.replace(/^ \* ?/, ''))
    const end = lines.findIndex((_, at) => isWhole(lines.slice(0, at + 1).join('\n')))
    return [
      {
        file,
        builder: builder!,
        ...parts(lines.slice(0, end + 1).join('\n'), lines.slice(end + 1).join('\n')),
      },
    ]
  })
}

function parts(declared: string, usage: string): { schema: string; usage: string } {
  const [, constant, name, value] = /^(const )?(\w+)(?: =|:) ([^]*)$/.exec(declared)!
  return { schema: constant !== undefined && name === 'schema' ? value! : `{ ${name}: ${value} }`, usage }
}

function isWhole(text: string): boolean {
  return text.replace(/[^([{]/g, '').length === text.replace(/[^)\]}]/g, '').length
}

function programOf({ schema, usage }: Example): string {
  const names = [...Object.keys(keyspec), ...Object.keys(recipes)].join(', ')
  return `import * as library from '${library}/index.js'
import * as recipes from '${library}/recipe/index.js'
${AROUND}
const { ${names} } = { ...library, ...recipes }
export const schema = ${schema}
const keys = open(schema, { cluster: false } as library.Connection)
export async function usage() {
${usage.replace(/\/\s*$/, '')}
}
`
}
