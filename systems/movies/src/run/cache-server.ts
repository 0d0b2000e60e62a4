import { startRedis, type TemporaryRedis } from 'keyspec/testing'

/** What the document asks of the server: pure cache, a ceiling, and only what has a lifetime may be evicted. */
const serverConfig = {
  maxmemory: '450mb',
  'maxmemory-policy': 'volatile-lru',
  save: '',
  appendonly: 'no',
} as const

/** A private Redis, configured as the document asks. */
export function startCacheServer(): Promise<TemporaryRedis> {
  return startRedis({ config: serverConfig })
}
