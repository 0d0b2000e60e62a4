// @ts-check
// npm test: sets up, runs every test (the arguments go to vitest), and ends with `N passed, N failed`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, run, setup } from './setup.js'

await run(async () => {
  setup()
  const folder = mkdtempSync(join(tmpdir(), 'keyspec-test-'))
  try {
    const report = join(folder, 'report.json')
    const code = await vitest(report)
    const { passed, failed, skipped } = count(report, code)
    console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
    process.exitCode = failed > 0 || passed === 0 ? 1 : code
  } finally {
    rmSync(folder, { recursive: true })
  }
})

/** @param {string} report */
async function vitest(report) {
  const cli = join(root, 'node_modules/vitest/vitest.mjs')
  const options = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const child = spawn(process.execPath, [cli, 'run', ...options, ...process.argv.slice(2)], {
    cwd: root,
    stdio: 'inherit',
  })
  // Ctrl-C reaches vitest by itself, as it shares our terminal; it must not keep us from cleaning up after it.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  const [code] = await once(child, 'exit')
  return code ?? 1
}

/**
 * A run that failed outside its tests (a file that does not load, an error that nobody caught) counts as one failure.
 * @param {string} report
 * @param {number} code
 */
function count(report, code) {
  const tests = existsSync(report)
    ? JSON.parse(readFileSync(report, 'utf8'))
    : { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0 }
  const failed = tests.numFailedTests + (code !== 0 && tests.numFailedTests === 0 ? 1 : 0)
  return { passed: tests.numPassedTests, failed, skipped: tests.numPendingTests + tests.numTodoTests }
}
