import type { RedisType } from '../script/proof.ts'

/** What every key answers to, whatever its type, and every entry: `delete`, `ttlMs`, `scan`; and scripts. */
export const ANY_KEY = ['EVAL', 'EVALSHA', 'EXISTS', 'PERSIST', 'PEXPIRE', 'PTTL', 'SCAN', 'UNLINK'] as const

const STRING = ['DEL', 'GET', 'GETDEL', 'GETEX', 'MGET', 'SET', 'TYPE'] as const

/** The commands of each kind's verbs, those in scripts among them, besides `ANY_KEY`. */
export const VERBS = {
  string: STRING,
  counter: [...STRING, 'INCRBY'],
  hash: [
    'HDEL',
    'HEXISTS',
    'HGET',
    'HGETALL',
    'HINCRBY',
    'HKEYS',
    'HLEN',
    'HMGET',
    'HSCAN',
    'HSET',
    'HSETNX',
  ],
  list: [
    'LINDEX',
    'LINSERT',
    'LLEN',
    'LMOVE',
    'LPOP',
    'LPOS',
    'LPUSH',
    'LRANGE',
    'LREM',
    'LSET',
    'LTRIM',
    'RPOP',
    'RPUSH',
  ],
  set: [
    'SADD',
    'SCARD',
    'SDIFF',
    'SINTER',
    'SISMEMBER',
    'SMEMBERS',
    'SMISMEMBER',
    'SPOP',
    'SRANDMEMBER',
    'SREM',
    'SSCAN',
    'SUNION',
  ],
  sortedSet: [
    'ZADD',
    'ZCARD',
    'ZCOUNT',
    'ZINCRBY',
    'ZMSCORE',
    'ZPOPMAX',
    'ZPOPMIN',
    'ZRANGE',
    'ZRANK',
    'ZREM',
    'ZREMRANGEBYRANK',
    'ZREMRANGEBYSCORE',
    'ZREVRANGE',
    'ZREVRANK',
    'ZSCAN',
    'ZSCORE',
  ],
  stream: [
    'XACK',
    'XADD',
    'XAUTOCLAIM',
    'XDEL',
    'XGROUP CREATE',
    'XGROUP DESTROY',
    'XINFO GROUPS',
    'XINFO STREAM',
    'XLEN',
    'XPENDING',
    'XRANGE',
    'XREAD',
    'XREADGROUP',
    'XREVRANGE',
    'XTRIM',
  ],
} as const satisfies { readonly [kind: string]: readonly string[] }

/** What moves a key from an old name of its entry. */
export const RENAMING = ['DUMP', 'RENAME', 'RENAMENX', 'RESTORE'] as const

/** What announces the phase of a rename, on `keyspec:phases`. */
export const ANNOUNCING = ['PEXPIRE', 'TIME', 'ZADD', 'ZREMRANGEBYSCORE', 'ZSCORE'] as const

/** What follows a key, on a cluster, from a slot to another; PEXPIRETIME is left out, which Redis 6.2 does not know. */
export const CROSSING = [
  'DUMP',
  'EXISTS',
  'HDEL',
  'HEXISTS',
  'HGET',
  'HSET',
  'PTTL',
  'RENAME',
  'RESTORE',
  'TIME',
  'UNLINK',
] as const

/** The commands of a kind that does not say which it needs, by the type of its keys. */
export function verbsOf(type: RedisType): readonly string[] {
  return VERBS[type === 'zset' ? 'sortedSet' : type]
}
