import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder of the compiled library. */
    readonly library: string
  }
}

const root = join(import.meta.dirname, '..')

/** Before the first test: compiles the library's sources, as they are now, into a temporary directory for all tests. */
export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'keyspec-library-'))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const config = join(root, 'packages/keyspec/tsconfig.json')
  const options = ['--outDir', folder, '--noCheck', '--composite', 'false', '--incremental', 'false']
  const quiet = ['--declaration', 'false', '--sourceMap', 'false', '--inlineSources', 'false']
  execFileSync(process.execPath, [compiler, '-p', config, ...options, ...quiet])
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  project.provide('library', folder)
  return () => rmSync(folder, { recursive: true })
}
