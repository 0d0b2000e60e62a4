import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The path of a file of the package that a module belongs to: modules are bundled into programs, so none knows how deep it
 * stands. `ownFile(import.meta.url, 'samples')`
 */
export function ownFile(moduleUrl: string, path: string): string {
  let folder = dirname(fileURLToPath(moduleUrl))
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder)
    if (above === folder) throw new Error(`${moduleUrl} is in no package`)
    folder = above
  }
  return join(folder, path)
}
