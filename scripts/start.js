// @ts-check
// npm start: sets up, then becomes the main job, of all systems or of the one that is named. It runs in this same process, so its exit code, its signals and
// its terminal are its own.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root, run, setup, Stop } from './setup.js'

const systems = join(root, 'systems')
const jobOf = (/** @type {string} */ system) => join(systems, system, 'program/main.js')

await run(async () => {
  await setup()
  const [, , word] = process.argv
  const isNamed = word !== undefined && !word.startsWith('-')
  const system = isNamed ? word : 'all'
  const known = readdirSync(systems).filter((name) => existsSync(jobOf(name)))
  if (!known.includes(system))
    throw new Stop(`There is no system "${system}": there are ${known.join(', ')}.`)
  process.argv.splice(1, isNamed ? 2 : 1, jobOf(system))
  await import(pathToFileURL(jobOf(system)).href)
})
