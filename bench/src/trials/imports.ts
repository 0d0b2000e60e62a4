import { gzipSync } from 'node:zlib'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { costOf, usualCost } from '../child.ts'
import type { Figures, Trial, Trier } from '../trial.ts'

const RUNS = 3
const IMPORT = 'imported by itself'
const CLIENT = 'imported with its client and its Redis adapter'

/** What it takes to have the library. */
export const imports: Trial = {
  name: 'imports',
  about:
    `What an import takes over a bare process (the middle of ${RUNS} runs), and what is added to a bundle: esbuild, ` +
    'minified, without the client, which is the user’s choice.',
  figures: {
    cpuMs: { label: 'CPU time', unit: 'ms' },
    wallMs: { label: 'time', unit: 'ms' },
    minified: { label: 'minified', unit: 'kB' },
    gzipped: { label: 'gzipped', unit: 'kB' },
  },
  cases: [IMPORT, CLIENT],
  contenders: {
    keyspec: {
      label: 'Keyspec',
      run: importOf({ [IMPORT]: ['keyspec'], [CLIENT]: ['keyspec', 'keyspec/node-redis', 'redis'] }),
    },
    recipes: {
      label: 'Keyspec with all recipes',
      run: importOf({
        [IMPORT]: ['keyspec', 'keyspec/recipes'],
        [CLIENT]: ['keyspec', 'keyspec/recipes', 'keyspec/node-redis', 'redis'],
      }),
    },
    bentocache: {
      label: 'bentocache',
      run: importOf({
        [IMPORT]: ['bentocache'],
        [CLIENT]: ['bentocache', 'bentocache/drivers/memory', 'bentocache/drivers/redis'],
      }),
    },
    bullmq: { label: 'BullMQ 6', run: importOf({ [IMPORT]: ['bullmq'], [CLIENT]: ['bullmq'] }) },
    'rate-limiter-flexible': {
      label: 'rate-limiter-flexible',
      run: importOf({
        [IMPORT]: ['rate-limiter-flexible'],
        [CLIENT]: ['rate-limiter-flexible', 'ioredis'],
      }),
    },
  },
  targets: ['cpuMs', 'gzipped'].map((figure) => ({
    case: IMPORT,
    figure,
    ours: 'keyspec',
    against: ['bentocache', 'bullmq', 'rate-limiter-flexible'],
    atMost: 1,
  })),
}

// What an import took, as the process that made it sees it: neither its start nor its end counts.
const SCRIPT = `
const [cpu, from] = [process.cpuUsage(), performance.now()]
await Promise.all(WANTED.map((name) => import(name)))
const { user, system } = process.cpuUsage(cpu)
console.log(JSON.stringify({ cpuMs: (user + system) / 1000, wallMs: performance.now() - from }))
process.exit(0)
`

function importOf(modules: { readonly [name: string]: readonly string[] }): Trier['run'] {
  return async (name): Promise<Figures> => {
    const wanted = modules[name]!
    const script = SCRIPT.replace('WANTED', JSON.stringify(wanted))
    const { stdout } = usualCost(RUNS, () => costOf([process.execPath, '--input-type=module', '-e', script]))
    return { ...(JSON.parse(stdout) as Figures), ...(await sizeOf(wanted)) }
  }
}

async function sizeOf(wanted: readonly string[]): Promise<Figures> {
  const libraries = wanted.filter((name) => !CLIENTS.includes(name))
  const bundle = await build({
    stdin: {
      contents: libraries.map((name) => `export * from '${name}'`).join('\n'),
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    external: CLIENTS,
    // Addons: each platform has another, and none is bundled.
    loader: { '.node': 'empty' },
    write: false,
    logLevel: 'error',
  })
  const { contents } = bundle.outputFiles[0]!
  return { minified: contents.length / 1000, gzipped: gzipSync(contents).length / 1000 }
}

const CLIENTS = ['ioredis', 'redis', '@redis/client', '@valkey/valkey-glide']
