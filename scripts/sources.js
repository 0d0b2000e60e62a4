// @ts-check
// The sources behind what the packages export. Tests and bundles of the workspace read these, so they run the code as it
// stands, and each module once, whether it is imported by its path or by its package.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../packages/', import.meta.url))

/**
 * Each specifier with the path of its source: `{ 'keyspec/recipes': '…/packages/keyspec/src/recipe/index.ts' }`.
 * @type {Readonly<Record<string, string>>}
 */
export const sources = Object.fromEntries(['keyspec', 'inspect'].flatMap(sourcesOf))

/** The same as Vite takes it: whole specifiers only. */
export const alias = Object.entries(sources).map(([name, replacement]) => ({
  find: new RegExp(`^${name}$`),
  replacement,
}))

/**
 * @param {string} folder
 * @returns {[string, string][]}
 */
function sourcesOf(folder) {
  /** @type {{ name: string, exports: Record<string, string | { types: string }> }} */
  const { name, exports } = JSON.parse(readFileSync(join(packages, folder, 'package.json'), 'utf8'))
  return Object.entries(exports).flatMap(([subpath, target]) =>
    typeof target === 'string'
      ? []
      : [[name + subpath.slice(1), join(packages, folder, sourceOf(target.types))]],
  )
}

/** @param {string} types */
function sourceOf(types) {
  return types.replace('./dist/', 'src/').replace(/\.d\.ts$/, '.ts')
}
