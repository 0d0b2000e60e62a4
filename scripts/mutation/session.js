// @ts-check
// A process that runs tests against mutants of Lua scripts, one after another, as its parent sends them. A mutant is never
// written to a file: Vite serves another lua.gen.ts. The parent ends this process if a mutant makes the tests hang.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createVitest } from 'vitest/node'
import { includesOf, isIncluded, moduleOf } from '../embed-lua.js'
import { root } from '../setup.js'
import { alias } from '../sources.js'

/** @typedef {{ tests: readonly string[], script?: string, text?: string }} Task */
/** @typedef {{ killedBy?: string, ran: number }} Answer */

/** @type {Task} */
let task = { tests: [] }

/** The modules that were served with the mutant that was tried last. @type {Set<string>} */
const served = new Set()

const plugin = /** @type {import('vite').Plugin} */ ({
  name: 'keyspec-mutant',
  enforce: 'pre',
  load(id) {
    const { script, text } = task
    if (script === undefined || text === undefined || !isServed(id, script)) return undefined
    return moduleOf(scriptsIn(dirname(id)), (path) =>
      path === join(root, script) ? text : readFileSync(path, 'utf8'),
    )
  },
})

const vitest = await createVitest(
  'test',
  {
    config: false,
    root,
    watch: false,
    bail: 1,
    pool: 'forks',
    isolate: false,
    maxWorkers: 1,
    include: ['packages/*/src/**/*.test.ts'],
    testTimeout: 15_000,
    hookTimeout: 15_000,
    reporters: [{}],
    onConsoleLog: () => false,
  },
  { plugins: [plugin], resolve: { alias }, logLevel: 'silent' },
)

process.on('message', (message) => void perform(/** @type {Task} */ (message)))
process.on('disconnect', () => process.exit())
process.send?.('ready')

/** @param {Task} asked */
async function perform(asked) {
  task = asked
  for (const id of served) vitest.invalidateFile(id)
  served.clear()
  let ran = 0
  // One file after another, each in a fresh worker: none sees what an earlier one left behind.
  for (const test of task.tests) {
    vitest.state.filesMap.clear()
    vitest.state.errorsSet.clear()
    const specifications = await vitest.globTestSpecifications([join(root, test)])
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications)
    const told = answer(testModules, unhandledErrors)
    ran += told.ran
    if (told.killedBy !== undefined) {
      process.send?.({ killedBy: told.killedBy, ran })
      return
    }
  }
  process.send?.({ ran })
}

/**
 * @param {readonly import('vitest/node').TestModule[]} modules
 * @param {readonly unknown[]} unhandled
 * @returns {Answer}
 */
function answer(modules, unhandled) {
  let ran = 0
  for (const testModule of modules) {
    for (const test of testModule.children.allTests()) {
      const { state } = test.result()
      if (state === 'passed' || state === 'failed') ran += 1
      if (state === 'failed') return { killedBy: test.fullName, ran }
    }
  }
  // A module that does not load, or a hook that failed.
  const broken = modules.find((testModule) => !testModule.ok())
  if (broken) return { killedBy: broken.relativeModuleId, ran }
  return unhandled.length > 0 ? { killedBy: `an unhandled error: ${String(unhandled[0])}`, ran } : { ran }
}

/**
 * Whether a module is the lua.gen.ts that holds a script, or one of those that hold what includes it.
 * @param {string} id
 * @param {string} script
 */
function isServed(id, script) {
  if (basename(id) !== 'lua.gen.ts') return false
  const path = join(root, script)
  const holds = isIncluded(script)
    ? scriptsIn(dirname(id)).some((each) => includesOf(each).includes(path))
    : dirname(id) === dirname(path)
  if (holds) served.add(id)
  return holds
}

/** @param {string} folder */
function scriptsIn(folder) {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.lua'))
    .toSorted()
    .map((name) => join(folder, name))
}
