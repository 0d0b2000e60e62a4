import { defineConfig } from 'vitest/config'
import { alias } from './scripts/sources.js'

// These start clusters or kill processes: after all the others.
const slow = ['**/*.cluster.test.ts', '**/*.process.test.ts']
// These turn the clock of their process, in which nothing of another file may still be waiting.
const clock = '**/*.clock.test.ts'

// Type tests (`*.test-d.ts`) are for the compiler alone: `npm run typecheck` reads them with everything else.
export default defineConfig({
  resolve: { alias },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: [
            'packages/*/src/**/*.test.ts',
            'systems/*/src/**/*.test.ts',
            'scripts/house/**/*.test.ts',
            'bench/src/**/*.test.ts',
            'torture/src/**/*.test.ts',
          ],
          exclude: [...slow, clock],
        },
      },
      {
        extends: true,
        test: { name: 'clock', include: [`{packages,systems}/*/src/${clock}`], isolate: true },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: [
            'test-support/**/*.test.ts',
            ...slow.map((pattern) => `{packages,systems}/*/src/${pattern}`),
            ...slow.map((pattern) => `torture/src/${pattern}`),
          ],
          globalSetup: 'test-support/library.ts',
          // More than there are cores: they wait as much as they work.
          maxWorkers: 3,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
    pool: 'forks',
    maxWorkers: 2,
    // The files of one worker share what they import, which costs more than most tests; what they change they put back.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
