import { defineConfig } from 'vitest/config'
import { alias } from '../sources.js'

// The tests that StrykerJS runs against the mutants of some files, which its parent names.
export default defineConfig({
  resolve: { alias },
  test: {
    include: JSON.parse(process.env['KEYSPEC_MUTATION_TESTS'] ?? '[]') as string[],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
