// @ts-check
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { Stop } from '../setup.js'

/**
 * A server to test on.
 * @typedef {object} Server
 * @property {string} name Redis or Valkey
 * @property {string} version as the server prints it
 * @property {string} path of its program
 */

/**
 * The server at a path, or a `Stop`.
 * @param {string} path
 * @returns {Server}
 */
export function serverAt(path) {
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
  const program = existsSync(path) ? realpathSync(path) : path
  const said = versionIn(stdout ?? '', program)
  if (said === undefined) throw new Stop(`${path} is no redis-server and no valkey-server.`)
  return { ...said, path: program }
}

/**
 * Reads what `--version` prints: `Redis server v=7.0.15 sha=…`. Valkey 7.2 says `Server v=7.2.7`, so its file name counts.
 * @param {string} printed
 * @param {string} path
 */
export function versionIn(printed, path) {
  const [, said, version] = /^(?:(Redis|Valkey) s|S)erver v=(\S+)/.exec(printed) ?? []
  if (version === undefined) return undefined
  return { name: said ?? (/valkey/.test(path) ? 'Valkey' : 'Redis'), version }
}

/**
 * Makes a folder in which the server has every name that a test may call it by, with the programs beside it, and returns a
 * PATH that begins with it.
 * @param {Server} server
 * @param {string} folder
 */
export function onPath({ path }, folder) {
  mkdirSync(folder)
  for (const name of ['redis-server', 'valkey-server']) symlinkSync(path, join(folder, name))
  for (const program of ['cli', 'sentinel', 'benchmark']) {
    for (const brand of ['redis', 'valkey']) {
      const beside = join(dirname(path), `${brand}-${program}`)
      if (existsSync(beside)) symlinkSync(realpathSync(beside), join(folder, `${brand}-${program}`))
    }
  }
  return `${folder}${delimiter}${process.env['PATH'] ?? ''}`
}
