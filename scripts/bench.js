// @ts-check
// npm run bench: sets up, brings the peers (they are installed in bench/ alone, so that nobody else pays for them),
// builds, and measures. What stands behind `--` goes to the benchmark: `npm run bench -- --quick limiter`.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root, run, setup, Stop } from './setup.js'

const folder = join(root, 'bench')

await run(async () => {
  await setup()
  // `npm install`, since `npm ci` refuses a lock file that lacks the optional packages of other platforms.
  if (!existsSync(join(folder, 'node_modules')))
    step('npm', ['install', '--no-save', '--no-audit', '--no-fund'], folder)
  step(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b', folder], root)
  step(process.execPath, [join(folder, 'dist/main.js'), ...process.argv.slice(2)], root)
})

/**
 * @param {string} command
 * @param {string[]} words
 * @param {string} cwd
 */
function step(command, words, cwd) {
  const { status } = spawnSync(command, words, { cwd, stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) throw new Stop(`${command} ${words.join(' ')} failed.`)
}
