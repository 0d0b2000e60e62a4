import type crypto from 'node:crypto'
import { createRequire } from 'node:module'
import type perfHooks from 'node:perf_hooks'
import type zlib from 'node:zlib'

// These take as long to load as all of Keyspec, and what is declared is mostly not yet used: each comes when it is needed.

/** Node's own cryptography. */
export const nodeCrypto = lazy<typeof crypto>('node:crypto')

/** Node's own compression and checksums. */
export const nodeZlib = lazy<typeof zlib>('node:zlib')

/** Node's own histograms. */
export const nodePerfHooks = lazy<typeof perfHooks>('node:perf_hooks')

function lazy<M>(name: string): () => M {
  let loaded: M | undefined
  return () => (loaded ??= load(name) as M)
}

function load(name: string): unknown {
  // From Node 20.16 on; Deno and Bun have it too.
  const has = process as { getBuiltinModule?(name: string): unknown }
  return has.getBuiltinModule?.(name) ?? createRequire(import.meta.url)(name)
}
