// @ts-check
// npm test: sets up, runs every test (the arguments go to vitest), and ends with `N passed, N failed`.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, run, setup } from './setup.js'

await run(async () => {
  await setup({ forTests: true })
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
 * A file that does not load counts as one failure, and so does what failed outside every file.
 * @param {string} report
 * @param {number} code
 */
function count(report, code) {
  if (!existsSync(report)) return { passed: 0, failed: 1, skipped: 0 }
  const tests = JSON.parse(readFileSync(report, 'utf8'))
  /** @type {{ status: string, assertionResults: unknown[] }[]} */
  const files = tests.testResults
  const broken = files.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length
  const failed = tests.numFailedTests + broken
  return {
    passed: tests.numPassedTests,
    failed: failed === 0 && code !== 0 ? 1 : failed,
    skipped: tests.numPendingTests + tests.numTodoTests,
  }
}
