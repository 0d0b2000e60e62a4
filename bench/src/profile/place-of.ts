import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Runtime } from 'node:inspector'

/** Whose code takes the time of a client. */
export type Owner = (typeof owners)[number]

/** All of them, in the order of the report. */
export const owners = [
  'Keyspec',
  'client library',
  'validator',
  'JSON',
  'Node',
  'garbage collector',
  'other libraries',
  'measuring',
  'idle',
] as const

/** Where a function stands: whose it is, and its file from its package on, with its line. */
export interface Whereabouts {
  readonly owner: Owner
  readonly file: string
}

const CLIENTS =
  /^(?:redis|@redis\/.+|ioredis|@ioredis\/.+|redis-errors|denque|cluster-key-slot|standard-as-callback)$/
const VALIDATORS = /^(?:valibot|arktype|@ark\/.+)$/

/** Where a function stands, by what a profile says of it; nowhere where it was generated, and is part of who called it. */
export function placeOf({
  functionName,
  url,
  lineNumber,
  columnNumber,
}: Runtime.CallFrame): Whereabouts | undefined {
  const line = lineNumber + 1
  if (functionName === '(idle)') return { owner: 'idle', file: '' }
  if (functionName === '(garbage collector)') return { owner: 'garbage collector', file: '' }
  if (url === '') return lineNumber < 0 ? { owner: 'Node', file: 'native' } : undefined
  if (url.startsWith('node:')) return { owner: 'Node', file: `${url}:${line}` }
  const [, name, inside] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(.+)$/.exec(url) ?? []
  if (name !== undefined) return { owner: ownerOf(name), file: `${name}/${inside}:${line}` }
  if (/\/packages\/(?:keyspec|inspect)\//.test(url))
    return { owner: 'Keyspec', file: sourceOf(fileURLToPath(url), lineNumber, columnNumber) }
  return url.endsWith('/bench/dist/profile/sampled.js')
    ? { owner: 'JSON', file: 'native' }
    : { owner: 'measuring', file: url.replace(/^.*\/bench\/dist\//, 'bench/') }
}

function ownerOf(name: string): Owner {
  return CLIENTS.test(name) ? 'client library' : VALIDATORS.test(name) ? 'validator' : 'other libraries'
}

const maps = new Map<string, SourceMap | undefined>()

/** The library runs as a few bundles, whose names say nothing: what a place in one was made from. */
function sourceOf(path: string, line: number, column: number): string {
  if (!maps.has(path)) {
    const map = `${path}.map`
    maps.set(path, existsSync(map) ? new SourceMap(JSON.parse(readFileSync(map, 'utf8'))) : undefined)
  }
  const entry = maps.get(path)?.findEntry(line, column)
  const [file, at] =
    entry !== undefined && 'originalSource' in entry
      ? [join(dirname(path), entry.originalSource), entry.originalLine]
      : [path, line]
  return `${file.replace(/^.*\/packages\//, '')}:${at + 1}`
}
