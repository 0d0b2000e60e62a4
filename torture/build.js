// @ts-check
// Bundles the harness and its actors from the sources as they are: the library's too, so that nothing else must be built.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { sources } from '../scripts/sources.js'

const folder = fileURLToPath(new URL('.', import.meta.url))

/** Writes `dist/main.js`, the harness, and `dist/actor.js` and `dist/move.js`, its child processes. */
export async function bundleTorture() {
  await build({
    absWorkingDir: folder,
    entryPoints: { main: 'src/main.ts', actor: 'src/actor/main.ts', move: 'src/actor/move.ts' },
    outdir: join(folder, 'dist'),
    alias: sources,
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['redis', 'ioredis', '@valkey/valkey-glide', 'vitest'],
    sourcemap: true,
    logLevel: 'warning',
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleTorture()
