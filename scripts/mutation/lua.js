// @ts-check
// Tries the mutants of Lua scripts: each is served to the tests of its script, which stop at the first failure.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, Stop } from '../setup.js'
import { mutantsOf } from './lua-mutants.js'
import { mutantAt } from './mutant.js'
import { testsOf } from './source.js'

/** @typedef {import('./mutant.js').Mutant} Mutant */
/** @typedef {import('./mutant.js').Outcome} Outcome */

/**
 * Returns the mutants of a script.
 * @param {string} file
 * @returns {Mutant[]}
 */
export function luaMutants(file) {
  const text = readFileSync(join(root, file), 'utf8')
  return mutantsOf(text).map((change) => mutantAt(file, text, change))
}

/**
 * Tries mutants one after another, until a deadline if there is one.
 * @param {readonly Mutant[]} mutants
 * @param {{ until: number, tell: (outcome: Outcome) => void }} options
 */
export async function tryLua(mutants, { until, tell }) {
  const session = new Session()
  try {
    /** @type {Map<string, number>} How long the tests of a set take without a mutant. */
    const took = new Map()
    for (const mutant of mutants) {
      const tests = testsOf(mutant.file)
      const set = tests.join(' ')
      if (Date.now() >= until) return
      if (!took.has(set)) took.set(set, await session.baseline(mutant.file, tests, until))
      if (Date.now() >= until) return
      // Far beyond what a loaded machine takes, and short of what a hang would cost.
      const limitMs = Math.ceil(20_000 + 5 * (took.get(set) ?? 0))
      const { start, end, replacement } = mutant
      const text = readFileSync(join(root, mutant.file), 'utf8')
      const changed = text.slice(0, start) + replacement + text.slice(end)
      const answer = await session.ask({ tests, script: mutant.file, text: changed }, limitMs)
      if (answer === undefined) tell({ mutant, killedBy: `no end within ${limitMs} ms` })
      else tell({ mutant, ...answer })
    }
  } finally {
    session.end()
  }
}

/** A process that runs tests, started when it is first needed, and again after one that hung was ended. */
class Session {
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #child

  /**
   * Runs tests without a mutant, and returns how long they took; if the time is over before they end, all of it.
   * @param {string} script
   * @param {readonly string[]} tests
   * @param {number} until
   */
  async baseline(script, tests, until) {
    const text = readFileSync(join(root, script), 'utf8')
    const started = performance.now()
    const limitMs = Math.max(1, Math.ceil(Math.min(600_000, until - Date.now())))
    const answer = await this.ask({ tests, script, text }, limitMs)
    if (answer === undefined && Date.now() >= until) return limitMs
    if (answer === undefined || answer.killedBy !== undefined || answer.ran === 0) {
      throw new Stop(`The tests of ${script} fail without a mutant: ${answer?.killedBy ?? 'none ran'}`)
    }
    return performance.now() - started
  }

  /**
   * Returns the answer, or nothing if there was none in time.
   * @param {import('./session.js').Task} task
   * @param {number} limitMs
   * @returns {Promise<import('./session.js').Answer | undefined>}
   */
  async ask(task, limitMs) {
    const child = (this.#child ??= await started())
    child.send(task)
    const signal = AbortSignal.timeout(limitMs)
    try {
      const [answer] = await once(child, 'message', { signal })
      return answer
    } catch (error) {
      this.end()
      if (!signal.aborted) throw error
      return undefined
    }
  }

  end() {
    const pid = this.#child?.pid
    this.#child = undefined
    // Its own process group: the workers of its tests end with it, and their servers with them.
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  }
}

async function started() {
  const session = new URL('session.js', import.meta.url)
  const child = fork(session, { cwd: root, detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  await once(child, 'message')
  return child
}
