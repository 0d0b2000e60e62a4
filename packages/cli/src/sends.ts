// INFO tells one node of a cluster from a whole server.
const connecting = ['PING', 'INFO'] as const
/** A walk over the keys, in steps that are scripts. */
const walking = [...connecting, 'EVAL', 'EVALSHA', 'SCAN', 'TIME', 'TYPE'] as const
/** Values of every type, read in bounded pieces. */
const reading = ['GET', 'GETRANGE', 'HSCAN', 'LRANGE', 'SSCAN', 'STRLEN', 'XRANGE', 'ZRANGE'] as const
/** Values as the server dumps them, with the instant at which they end. */
const dumping = ['DUMP', 'PEXPIRETIME', 'PTTL'] as const
const counting = ['HLEN', 'LLEN', 'SCARD', 'XLEN', 'ZCARD'] as const
/** The keys of a work queue, held against each other. */
const agreeing = ['GET', 'HLEN', 'LLEN', 'ZCARD', 'ZCOUNT'] as const
const writing = [...connecting, 'EVAL', 'EVALSHA', 'EXISTS', 'RESTORE', 'TIME'] as const
const comparing = ['GET', 'XINFO GROUPS', 'XINFO STREAM'] as const

/**
 * Every Redis command that a command of the command line sends, those in its scripts among them, by the command line that
 * sends them. Commands that ask no server are absent. A test compares this with what a server is sent.
 */
export const sends: { readonly [line: string]: readonly string[] } = {
  'check --server': [...walking, 'EXISTS', 'MEMORY USAGE', 'ZSCORE'],
  audit: [...walking, ...reading, ...agreeing, 'DBSIZE', 'EXISTS', 'PTTL'],
  'audit --snapshot': [...connecting, 'PSYNC', 'REPLCONF'],
  stats: [...walking, 'DBSIZE', 'MEMORY USAGE', 'OBJECT ENCODING', 'OBJECT IDLETIME', 'PTTL'],
  'stats --snapshot': [...connecting, 'PSYNC', 'REPLCONF'],
  doctor: [
    ...connecting,
    'ACL CAT',
    'ACL GETUSER',
    'ACL WHOAMI',
    'CONFIG GET',
    'EVAL',
    'EVALSHA',
    'SLOWLOG LEN',
    'TIME',
  ],
  explain: [
    ...connecting,
    ...reading,
    ...counting,
    'EXISTS',
    'MEMORY USAGE',
    'OBJECT ENCODING',
    'OBJECT IDLETIME',
    'PTTL',
    'TYPE',
  ],
  erase: [...walking, 'MEMORY USAGE', 'UNLINK'],
  cleanup: [...walking, 'EXISTS', 'OBJECT IDLETIME', 'PEXPIRE', 'PTTL', 'UNLINK'],
  migrate: [...walking, 'EXISTS', 'GET', 'MEMORY USAGE', 'PTTL', 'RENAMENX', 'STRLEN', 'UNLINK'],
  export: [...walking, ...dumping],
  import: writing,
  copy: [...walking, ...dumping],
  'copy --to': writing,
  diff: [...walking, 'DUMP', 'PTTL', ...comparing],
}

/** What a cluster is asked besides. */
const onCluster: typeof sends = { doctor: ['CLUSTER INFO', 'CLUSTER NODES'], explain: ['CLUSTER KEYSLOT'] }

/** Every command line with the commands that it sends, as \`keyspec doctor\` names it. */
export function toolsAsked(cluster: boolean): typeof sends {
  return Object.fromEntries(
    Object.entries(sends).map(([line, commands]) => [
      `keyspec ${line}`,
      cluster ? [...commands, 'CLUSTER SLOTS', ...(onCluster[line] ?? [])] : commands,
    ]),
  )
}
