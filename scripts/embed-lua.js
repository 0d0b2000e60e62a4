// @ts-check
// Writes a lua.gen.ts beside every folder's .lua files: one constant for each, holding its text without comments. With --check it
// only names what is stale.
//
// A line `--@include PATH` stands for the statements of another .lua file, on that one line, so that the line numbers of
// Redis's errors stay those of the file. What is included stands in a folder `include`, and includes nothing itself.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root, run, Stop } from './setup.js'

const FIRST_LINE = '// Generated from the .lua files beside it by scripts/embed-lua.js'
const GENERATED = 'lua.gen.ts'
const INCLUDE = /^[ \t]*--@include (.*)$/gm

/**
 * Brings every lua.gen.ts below a folder up to date, and returns those that were not. With `write: false` it leaves
 * the files alone.
 * @param {string} folder
 * @param {{ write: boolean }} options
 * @returns {string[]}
 */
export function embedLua(folder, { write }) {
  const stale = []
  for (const [generated, scripts] of generatedFiles(folder)) {
    const wanted = scripts.length === 0 ? undefined : moduleOf(scripts)
    const found = existsSync(generated) ? readFileSync(generated, 'utf8') : undefined
    if (wanted === found) continue
    stale.push(generated)
    if (!write) continue
    if (wanted === undefined) rmSync(generated)
    else writeFileSync(generated, wanted)
  }
  return stale
}

/**
 * Every lua.gen.ts that is there or should be, with the .lua files it holds.
 * @param {string} folder
 */
function generatedFiles(folder) {
  /** @type {Map<string, string[]>} */
  const files = new Map()
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()) {
    const isLua = name.endsWith('.lua')
    if (isIncluded(name) || (!isLua && basename(name) !== GENERATED)) continue
    const generated = join(folder, dirname(name), GENERATED)
    const scripts = files.get(generated) ?? []
    if (isLua) scripts.push(join(folder, name))
    files.set(generated, scripts)
  }
  return files
}

/**
 * Whether a file is only there to be included by scripts.
 * @param {string} path
 */
export function isIncluded(path) {
  return basename(dirname(path)) === 'include'
}

/**
 * Returns the files that a script includes.
 * @param {string} path
 */
export function includesOf(path) {
  return [...readFileSync(path, 'utf8').matchAll(INCLUDE)].map((found) => join(dirname(path), found[1] ?? ''))
}

/**
 * Without its comments: neither a program nor the server reads them. Their lines stay, which Redis's errors count.
 * @param {string} lua
 */
function bare(lua) {
  return lua.replaceAll(/^[ \t]*--.*$/gm, '')
}

/**
 * The text of a script with what it includes, without comments.
 * @param {string} path
 * @param {(path: string) => string} read
 */
function textOf(path, read) {
  return bare(
    read(path).replaceAll(INCLUDE, (_, target) => {
      const included = join(dirname(path), target)
      if (!isIncluded(included))
        throw new Stop(`${path} includes ${target}, which is in no folder \`include\`.`)
      const text = read(included)
      if (text.search(INCLUDE) !== -1) throw new Stop(`${included} is included, so it may include nothing.`)
      if (/\S.*--/.test(bare(text)))
        throw new Stop(`${included} is put on one line, so a comment needs a line of its own.`)
      return bare(text)
        .trim()
        .replaceAll(/\s*\n\s*/g, ' ')
    }),
  )
}

/**
 * Returns the text of a lua.gen.ts.
 * @param {readonly string[]} scripts
 * @param {(path: string) => string} [read] gives the text of a script: a mutation run gives other texts
 */
export function moduleOf(scripts, read = (path) => readFileSync(path, 'utf8')) {
  const lines = scripts.map((path) => {
    const name = basename(path, '.lua').replace(/-([a-z0-9])/g, (_, letter) => letter.toUpperCase())
    return `export const ${name} = ${JSON.stringify(textOf(path, read))}`
  })
  return [FIRST_LINE, ...lines.toSorted(), ''].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await run(() => {
    const checking = process.argv.includes('--check')
    const stale = embedLua(join(root, 'packages'), { write: !checking })
    for (const path of stale) console.log(`${checking ? 'stale: ' : ''}${relative(root, path)}`)
    if (checking && stale.length > 0) throw new Stop('Run `npm run embed` and commit the result.')
  })
}
