// @ts-check
// npm run check: every check, even after one has failed, each with its outcome and its time, two at once. What a failed
// one printed is shown; the last line is `N passed, N failed`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { root } from './setup.js'

// Names of npm scripts. The longest first, so that the short ones fill what is left of the time.
const checks = ['lint', 'package', 'typecheck', 'unused', 'format:check', 'embed:check', 'size']

let failed = 0
const waiting = [...checks]
await Promise.all([lane(), lane()])
console.log(`${checks.length - failed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0

async function lane() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (!(await passes(name))) failed += 1
  }
}

/** @param {string} name */
async function passes(name) {
  const started = performance.now()
  const child = spawn('npm', ['run', '--silent', name], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  })
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  const passed = status === 0
  if (!passed) console.log(`${stdout}${stderr}`.trimEnd())
  console.log(
    `${passed ? 'ok    ' : 'FAILED'} ${name} ${((performance.now() - started) / 1000).toFixed(1)} s`,
  )
  return passed
}
