// @ts-check
// Bundles what tsc built, since hundreds of modules take a program several times as long to start as Node itself:
// each package to `packages/<name>/lib`, a file for each entry point and what they share, and the programs of the systems to
// `systems/<name>/program`, the libraries they use included.
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Bundles what was built since, and throws what esbuild says where it cannot.
 * @param {string} root
 */
export async function bundle(root) {
  const packages = join(root, 'packages')
  for (const name of readdirSync(packages)) await bundlePackage(join(packages, name))
  const systems = join(root, 'systems')
  const used = [
    'packages/keyspec',
    'packages/inspect',
    'systems/model',
    'systems/program',
    'systems/reading',
  ].map((name) => join(root, name))
  const changed = Math.max(...used.map(builtAt), statSync(join(root, 'package-lock.json')).mtimeMs)
  for (const name of readdirSync(systems)) await bundleProgram(join(systems, name), changed)
}

const common = /** @type {const} */ ({
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  logLevel: 'warning',
})

/** @param {string} folder */
async function bundlePackage(folder) {
  const lib = join(folder, 'lib')
  const declared = statSync(join(folder, 'package.json')).mtimeMs
  if (isFresh(join(lib, 'index.js'), Math.max(declared, builtAt(folder)))) return
  const { build } = await import('esbuild')
  rmSync(lib, { recursive: true, force: true })
  await build({
    ...common,
    absWorkingDir: folder,
    entryPoints: entryPointsOf(folder),
    outdir: lib,
    // Beside the entry points: a file that is looked for from a module is looked for from there.
    chunkNames: '[name]-[hash]',
    packages: 'external',
    sourcemap: true,
  })
}

/**
 * From what package.json exports: the file in lib, and the module in dist whose types stand for it.
 * @param {string} folder
 */
function entryPointsOf(folder) {
  /** @type {{ exports: Record<string, string | { types: string, default: string }>, bin?: object }} */
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const entries = Object.values(manifest.exports)
    .filter((target) => typeof target !== 'string')
    .map((target) => ({
      in: target.types.replace(/\.d\.ts$/, '.js'),
      out: target.default.replace(/^\.\/lib\/(.*)\.js$/, '$1'),
    }))
  return manifest.bin === undefined ? entries : [...entries, { in: './dist/main.js', out: 'main' }]
}

// What finds files of its own beside itself, is native, or starts processes.
const external = ['@bull-board/*', '@valkey/valkey-glide', 'keyspec/testing', 'vega-datasets']

/**
 * @param {string} folder
 * @param {number} changed when what it includes was built
 */
async function bundleProgram(folder, changed) {
  const dist = join(folder, 'dist')
  const program = join(folder, 'program')
  if (!existsSync(join(dist, 'main.js'))) return
  if (isFresh(join(program, 'main.js'), Math.max(changed, builtAt(folder)))) return
  const { build } = await import('esbuild')
  rmSync(program, { recursive: true, force: true })
  await build({
    ...common,
    absWorkingDir: folder,
    entryPoints: filesOf(dist).filter((path) => /(^|[/-])main\.js$/.test(path)),
    outbase: dist,
    outdir: program,
    chunkNames: 'shared/[name]-[hash]',
    external,
    // A bundle of a package names its parts in the order they run, also those that only declare. Here they may be left out.
    logOverride: { 'ignored-bare-import': 'silent' },
    // CommonJS modules among them ask for Node's own with require.
    banner: {
      js: "import { createRequire as keyspecRequire } from 'node:module'; const require = keyspecRequire(import.meta.url);",
    },
  })
}

/**
 * @param {string} made
 * @param {number} changed
 */
function isFresh(made, changed) {
  if (!existsSync(made)) return false
  return statSync(made).mtimeMs >= Math.max(changed, statSync(fileURLToPath(import.meta.url)).mtimeMs)
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
