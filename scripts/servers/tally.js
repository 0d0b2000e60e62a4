// @ts-check
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { root } from '../setup.js'

/**
 * What a run found: how many tests passed, and the names of those that did not.
 * @typedef {{ passed: number, failures: string[], skips: string[] }} Tally
 */

/**
 * Counts the tests in a JSON report of Vitest. A file that does not load is one failure, and so is a run that fails without
 * a failed test.
 * @param {string} report
 * @param {number} code of Vitest
 * @returns {Tally}
 */
export function tallyOf(report, code) {
  if (!existsSync(report)) return { passed: 0, failures: ['the run itself'], skips: [] }
  /** @type {{ testResults: { name: string, status: string, assertionResults: { fullName: string, status: string }[] }[] }} */
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
  const tally = { passed: 0, failures: /** @type {string[]} */ ([]), skips: /** @type {string[]} */ ([]) }
  for (const { name, status, assertionResults } of testResults) {
    const file = relative(root, name)
    if (status === 'failed' && assertionResults.length === 0) tally.failures.push(file)
    for (const test of assertionResults) {
      if (test.status === 'passed') tally.passed += 1
      else if (test.status === 'failed') tally.failures.push(`${file}: ${test.fullName}`)
      else tally.skips.push(`${file}: ${test.fullName}`)
    }
  }
  if (tally.failures.length === 0 && code !== 0) tally.failures.push('the run itself')
  return tally
}
