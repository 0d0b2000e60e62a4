// @ts-check
// Lists the mutants that StrykerJS makes of TypeScript, and tries them in processes of their own, a set of tests at a time.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root, Stop } from '../setup.js'
import { identity, mutantAt } from './mutant.js'
import { testsOf } from './source.js'

/** @typedef {import('./mutant.js').Mutant} Mutant */
/** @typedef {import('./mutant.js').Outcome} Outcome */
/** @typedef {Awaited<ReturnType<import('@stryker-mutator/core').Stryker['runMutationTest']>>[number]} MutantResult */

/** The part of StrykerJS that makes mutants, as its core uses it. */
const instrumenter = createRequire(createRequire(import.meta.url).resolve('@stryker-mutator/core')).resolve(
  '@stryker-mutator/instrumenter',
)

/** @returns {undefined} */
const silent = () => undefined
const logger = { debug: silent, info: silent, warn: silent, isDebugEnabled: () => false }

/**
 * Returns the mutants of TypeScript files.
 * @param {readonly string[]} files
 * @returns {Promise<Mutant[]>}
 */
export async function typescriptMutants(files) {
  const { Instrumenter } = await import(instrumenter)
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
  /** @type {{ mutants: Pick<MutantResult, 'fileName' | 'location' | 'replacement' | 'status'>[] }} */
  const { mutants } = await new Instrumenter(logger).instrument(
    [...texts].map(([name, content]) => ({ name, content, mutate: true })),
    { plugins: null, excludedMutations: [], ignorers: [], noHeader: true },
  )
  return mutants
    .filter(({ status }) => status !== 'Ignored')
    .map((mutant) => fromStryker(mutant.fileName, texts.get(mutant.fileName) ?? '', mutant, 0))
}

/**
 * Tries mutants, until a deadline if there is one. StrykerJS is told lines, so those of a sample are whole lines.
 * @param {readonly Mutant[]} mutants
 * @param {{ until: number, tell: (outcome: Outcome) => void }} options
 */
export async function tryTypescript(mutants, { until, tell }) {
  /** @type {Map<string, Mutant[]>} */
  const sets = new Map()
  for (const mutant of mutants) {
    const set = testsOf(mutant.file).join(' ')
    sets.set(set, [...(sets.get(set) ?? []), mutant])
  }
  for (const [set, those] of sets) {
    if (Date.now() >= until) return
    await tryWith(set.split(' '), those, { until, tell })
  }
}

/**
 * @param {readonly string[]} tests
 * @param {readonly Mutant[]} mutants
 * @param {{ until: number, tell: (outcome: Outcome) => void }} options
 */
async function tryWith(tests, mutants, { until, tell }) {
  const texts = new Map(mutants.map(({ file }) => [file, readFileSync(join(root, file), 'utf8')]))
  const wanted = new Map(mutants.map((mutant) => [identity(mutant) + mutant.start, mutant]))
  const mutate = [...new Set(mutants.map(({ file, line, lastLine }) => `${file}:${line}-${lastLine}`))]
  const child = fork(new URL('stryker.js', import.meta.url), {
    cwd: root,
    detached: true,
    env: { ...process.env, KEYSPEC_MUTATION_TESTS: JSON.stringify(tests) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  let ended = false
  /** @type {string | undefined} */
  let fault
  child.on('message', (/** @type {{ result?: MutantResult, fault?: string }} */ { result, fault: told }) => {
    fault ??= told
    if (!result) return
    const file = result.fileName.startsWith(root) ? result.fileName.slice(root.length) : result.fileName
    const mutant = fromStryker(file, texts.get(file) ?? '', result, 1)
    const asked = wanted.get(identity(mutant) + mutant.start)
    const killedBy = killer(result)
    if (asked && killedBy !== null) tell({ mutant: asked, ...(killedBy && { killedBy }) })
  })
  child.send({ mutate })
  const waiting = AbortSignal.timeout(Math.min(2 ** 31 - 1, Math.max(1, until - Date.now())))
  try {
    const [code] = await once(child, 'exit', { signal: waiting })
    ended = true
    if (code !== 0) throw new Stop(`StrykerJS failed: ${fault ?? `it ended with ${code}`}`)
  } catch (error) {
    if (!waiting.aborted) throw error
  } finally {
    if (!ended && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }
}

/**
 * Returns who killed a mutant, '' if nobody did, and null if it was never tried.
 * @param {MutantResult} result
 */
function killer({ status, killedBy, statusReason }) {
  if (status === 'Killed') return killedBy?.[0] ?? 'a test'
  if (status === 'Timeout') return 'a time-out'
  if (status === 'RuntimeError') return statusReason ?? 'an error outside the tests'
  return status === 'Survived' || status === 'NoCoverage' ? '' : null
}

/**
 * @param {string} file
 * @param {string} text
 * @param {Pick<MutantResult, 'location' | 'replacement'>} mutant
 * @param {0 | 1} first StrykerJS counts the lines and columns of a mutant that it makes from 0, those of a result from 1
 */
function fromStryker(file, text, { location, replacement }, first) {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  const offset = (/** @type {{ line: number, column: number }} */ { line, column }) =>
    (starts[line - first] ?? 0) + column - first
  return mutantAt(file, text, { start: offset(location.start), end: offset(location.end), replacement })
}
