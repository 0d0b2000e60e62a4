// @ts-check
// A process that runs StrykerJS on the lines that its parent sends, and sends back each result as it comes.
import { Stryker } from '@stryker-mutator/core'

process.once('message', (message) => void mutateLines(/** @type {{ mutate: string[] }} */ (message)))
process.on('disconnect', () => process.exit(1))

/** @param {{ mutate: string[] }} lines */
async function mutateLines({ mutate }) {
  try {
    await new Stryker({
      mutate,
      testRunner: 'vitest',
      vitest: { configFile: 'scripts/mutation/vitest.config.ts', related: false },
      plugins: ['@stryker-mutator/vitest-runner', './scripts/mutation/reporter.js'],
      reporters: ['keyspec'],
      // TypeScript 7 lacks the function by which StrykerJS reads one.
      tsconfigFile: 'no-such-tsconfig.json',
      // Vite reads the references of the root's tsconfig.json, so everything that they name must be copied.
      ignorePatterns: ['**/dist', '**/lib', 'docs', 'systems/*/program', '/bench/results'],
      tempDirName: '.stryker-tmp',
      coverageAnalysis: 'perTest',
      concurrency: 1,
      timeoutMS: 6_000,
      timeoutFactor: 4,
      dryRunTimeoutMinutes: 10,
      disableTypeChecks: false,
      checkers: [],
      thresholds: { high: 100, low: 0, break: null },
      allowConsoleColors: false,
      logLevel: /** @type {any} */ ('error'),
      clearTextReporter: {},
    }).runMutationTest()
    // Once it is sent, so is every result before it.
    process.send?.({}, () => process.exit(0))
  } catch (error) {
    process.send?.({ fault: String(error) }, () => process.exit(1))
  }
}
