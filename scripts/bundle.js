// @ts-check
// Bundles the programs of the systems, from what tsc built: `systems/<name>/program/main.js` and beside it each
// `…-main.js`. Read as hundreds of modules, a Redis client alone takes a program three times as long to start as Node itself.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// What finds files of its own beside itself, is native, or starts processes.
const external = ['@bull-board/*', '@valkey/valkey-glide', 'express', 'keyspec/testing', 'vega-datasets']

/**
 * Bundles the programs of each system that was built since, and throws what esbuild says where it cannot.
 * @param {string} root
 */
export async function bundle(root) {
  const systems = join(root, 'systems')
  const newest = Math.max(
    ...['packages/keyspec', 'systems/model', 'systems/program'].map((folder) => builtAt(join(root, folder))),
    statSync(join(root, 'package-lock.json')).mtimeMs,
    statSync(fileURLToPath(import.meta.url)).mtimeMs,
  )
  const stale = readdirSync(systems)
    .map((name) => join(systems, name))
    .filter((folder) => existsSync(join(folder, 'dist/main.js')))
    .filter((folder) => {
      const made = join(folder, 'program/main.js')
      return !existsSync(made) || statSync(made).mtimeMs < Math.max(newest, builtAt(folder))
    })
  if (stale.length === 0) return
  const { build } = await import('esbuild')
  for (const folder of stale) {
    const dist = join(folder, 'dist')
    rmSync(join(folder, 'program'), { recursive: true, force: true })
    await build({
      absWorkingDir: folder,
      entryPoints: filesOf(dist).filter((path) => /(^|[/-])main\.js$/.test(path)),
      outbase: dist,
      outdir: join(folder, 'program'),
      bundle: true,
      splitting: true,
      chunkNames: 'shared/[name]-[hash]',
      platform: 'node',
      target: 'node20',
      format: 'esm',
      external,
      // CommonJS modules among them ask for Node's own with require.
      banner: {
        js: "import { createRequire as keyspecRequire } from 'node:module'; const require = keyspecRequire(import.meta.url);",
      },
      logLevel: 'warning',
    })
  }
}

/** @param {string} folder */
function builtAt(folder) {
  return Math.max(0, ...filesOf(join(folder, 'dist')).map((path) => statSync(path).mtimeMs))
}

/** @param {string} folder */
function filesOf(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(folder, name))
}
