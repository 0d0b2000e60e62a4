import { globOf, pattern, type RedisType } from 'keyspec/extend'
import type { DocsCommands, ManifestKey } from '@keyspec/inspect'
import { shellWord } from './shell.ts'

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

/** How a reader of the documentation looks at keys. */
export const docsCommands: DocsCommands = {
  about: 'How many there are, and which: `--scan` goes step by step and never stops the server.',
  read(key: ManifestKey) {
    const name = shellWord(key.example)
    const reading = key.type === 'various' ? [['TYPE', ''] as const] : READ[key.type]
    return [
      ...reading.map(([before, after]) => `redis-cli ${before} ${name} ${after}`.trimEnd()),
      ...(key.lifetime.ttlMs === 'forever' ? [] : [`redis-cli PTTL ${name}`]),
      `keyspec explain ${name}`,
    ]
  },
  scan: ({ pattern: text }, prefix) =>
    `redis-cli --scan --pattern ${shellWord(globOf(pattern(prefix + text)))}`,
}
