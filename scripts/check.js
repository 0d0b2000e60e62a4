// @ts-check
// npm run check: every check, even after one has failed, each with its outcome and its time. What a failed one
// printed is shown; the last line is `N passed, N failed`.
import { spawnSync } from 'node:child_process'
import { root } from './setup.js'

// Names of npm scripts.
const checks = ['format:check', 'lint', 'typecheck', 'embed:check', 'unused', 'package', 'size']

const failed = checks.filter((name) => !passes(name))
console.log(`${checks.length - failed.length} passed, ${failed.length} failed`)
process.exitCode = failed.length > 0 ? 1 : 0

/** @param {string} name */
function passes(name) {
  const started = performance.now()
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', name], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  })
  const passed = status === 0
  if (!passed) console.log(`${stdout ?? ''}${stderr ?? ''}`.trimEnd())
  console.log(
    `${passed ? 'ok    ' : 'FAILED'} ${name} ${((performance.now() - started) / 1000).toFixed(1)} s`,
  )
  return passed
}
