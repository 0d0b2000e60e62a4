// @ts-check
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../setup.js'
import { pageOf } from './page.js'

/**
 * The result of one project.
 * @typedef {object} Run
 * @property {string} project
 * @property {readonly string[]} of the folders whose tests ran, none for all
 * @property {string} date
 * @property {string} commit of the code
 * @property {number} passed
 * @property {readonly string[]} failures
 * @property {readonly string[]} skips
 */

/**
 * A server with its latest runs.
 * @typedef {object} Recorded
 * @property {string} server
 * @property {string} version
 * @property {string} source what it was built from
 * @property {readonly Run[]} runs one a project
 */

const FILE = join(root, 'docs/servers.json')
const PAGE = join(root, 'docs/servers.md')

/** @returns {readonly Recorded[]} */
export function readRecords() {
  return JSON.parse(readFileSync(FILE, 'utf8'))
}

/**
 * Writes the records, and the page that shows them.
 * @param {readonly Recorded[]} records
 */
export function writeRecords(records) {
  writeFileSync(FILE, `${JSON.stringify(records, null, 2)}\n`)
  writeFileSync(PAGE, pageOf(records))
}

/**
 * The records with a new run in place of the last one of that project on that server.
 * @param {readonly Recorded[]} records
 * @param {{ readonly name: string, readonly version: string }} server
 * @param {string | undefined} source
 * @param {Run} run
 * @returns {readonly Recorded[]}
 */
export function withRun(records, { name, version }, source, run) {
  const isOf = (/** @type {Recorded} */ record) => record.server === name && record.version === version
  const last = records.find(isOf)
  const runs = [...(last?.runs ?? []).filter(({ project }) => project !== run.project), run]
  const record = {
    server: name,
    version,
    source: source ?? last?.source ?? 'not said',
    runs: runs.toSorted((a, b) => PROJECTS.indexOf(a.project) - PROJECTS.indexOf(b.project)),
  }
  return [...records.filter((other) => !isOf(other)), record].toSorted(
    (a, b) =>
      a.server.localeCompare(b.server) || a.version.localeCompare(b.version, undefined, { numeric: true }),
  )
}

const PROJECTS = ['quick', 'clock', 'slow']
