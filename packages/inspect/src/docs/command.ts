import { globOf, pattern, type RedisType } from 'keyspec/extend'
import type { ManifestKey } from '../manifest/manifest.ts'

// What shows a key of each type without reading all of a large one.
const READ: Readonly<Record<RedisType, readonly (readonly [before: string, after: string])[]>> = {
  string: [['GET', '']],
  hash: [
    ['HLEN', ''],
    ['HSCAN', '0 COUNT 20'],
  ],
  list: [
    ['LLEN', ''],
    ['LRANGE', '0 9'],
  ],
  set: [
    ['SCARD', ''],
    ['SSCAN', '0 COUNT 20'],
  ],
  zset: [
    ['ZCARD', ''],
    ['ZRANGE', '0 9 WITHSCORES'],
  ],
  stream: [
    ['XLEN', ''],
    ['XREVRANGE', '+ - COUNT 10'],
  ],
}

/** Command lines that show one key of a pattern, as they fit its type. */
export function readCommands(key: ManifestKey): string[] {
  const name = quoted(key.example)
  const reading = key.type === 'various' ? [['TYPE', ''] as const] : READ[key.type]
  return [
    ...reading.map(([before, after]) => `redis-cli ${before} ${name} ${after}`.trimEnd()),
    ...(key.lifetime.ttlMs === 'forever' ? [] : [`redis-cli PTTL ${name}`]),
    `keyspec explain ${name}`,
  ]
}

/** A command line that finds the keys of a pattern. */
export function scanCommand({ pattern: text }: ManifestKey, prefix: string): string {
  return `redis-cli --scan --pattern ${quoted(globOf(pattern(prefix + text)))}`
}

function quoted(text: string): string {
  return /^[\w:./@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
