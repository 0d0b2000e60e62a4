import type { Command } from './connection.ts'

/** What the server said of a permission that the user lacks. */
export interface Denial {
  /** What is missing, where the server or the command names it. */
  readonly missing: string
  /** The ACL rules that give it and nothing else: `+time`. None where the server does not say which command it was. */
  readonly rules: readonly string[]
  /** The user, where the server names it. */
  readonly user: string | undefined
}

/** Reads what a server refuses for want of a permission, be it to the user or to a script of the user; else `undefined`. */
export function denialOf(reply: string, command: Command, keys: readonly string[]): Denial | undefined {
  if (!DENIED.test(reply)) return undefined
  const user = /User (\S+) has no permissions/.exec(reply)?.[1]
  const [, named, isContainer] =
    /the '([^']+)' command( or its subcommand)?/.exec(reply) ?? nameless(reply, command)
  if (named !== undefined) {
    // Redis 6.2 leaves the subcommand out, and `+config` would allow all of them.
    const isWhole = isContainer === undefined || named.includes('|') || !CONTAINERS.has(named)
    const [, subcommand = ''] = command
    const name =
      isWhole || named !== String(command[0]).toLowerCase() ? named : `${named}|${String(subcommand)}`
    const rule = `+${name.toLowerCase()}`
    return { missing: `lacks the permission ${rule}`, rules: [rule], user }
  }
  if (/channel/i.test(reply)) {
    const channel = CHANNELS.has(String(command[0])) ? String(command[1]) : keys[0]
    const rules = channel === undefined ? [] : [`&${glob(channel)}`]
    return { missing: `may not use the channel${channel === undefined ? '' : ` ${channel}`}`, rules, user }
  }
  if (/\bkeys?\b/.test(reply)) {
    // These words are of Redis 7.2 and later, where a user can have a key to read only.
    const isRead = /No permissions to access a key/.test(reply) && READS.has(String(command[0]))
    const rules = keys.map((key) => `${isRead ? '%R' : ''}~${glob(key)}`)
    return { missing: `may not touch ${keys.length === 0 ? 'a key' : keys.join(', ')}`, rules, user }
  }
  return { missing: 'lacks a permission', rules: [], user }
}

/** What to do about it, for the message of an error. */
export function adviceOn({ missing, rules, user = '<user>' }: Denial): string {
  if (rules.length === 0) return `the user ${missing}: compare its ACL rules with those that the schema needs`
  return `the user ${missing}: ACL SETUSER ${user} ${rules.join(' ')}`
}

/** A text as a pattern that matches it alone. */
function glob(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&')
}

/** EXEC does not name the command that it refuses, but that command was sent under its own name. */
function nameless(reply: string, [name]: Command): readonly string[] {
  const isNamed =
    reply.endsWith(' no permission to execute the command or subcommand') && !RUNNERS.has(String(name))
  return isNamed ? ['', String(name).toLowerCase(), 'or its subcommand'] : []
}

const DENIED = /^NOPERM|The user executing the script |ACL failure in script/
/** Commands that run others. */
const RUNNERS: ReadonlySet<string> = new Set(['EVAL', 'EVALSHA', 'EXEC', 'FCALL'])
const CHANNELS: ReadonlySet<string> = new Set(['PUBLISH', 'SUBSCRIBE'])
const READS: ReadonlySet<string> = new Set(
  (
    'DUMP EXISTS GET GETRANGE HEXISTS HGET HGETALL HKEYS HLEN HMGET HSCAN LINDEX LLEN LPOS LRANGE MGET PTTL SCARD SINTER ' +
    'SISMEMBER SMEMBERS SMISMEMBER SRANDMEMBER SSCAN STRLEN TYPE XINFO XLEN XPENDING XRANGE XREVRANGE ZCARD ZCOUNT ' +
    'ZMSCORE ZRANGE ZRANGEBYSCORE ZRANK ZREVRANK ZSCAN ZSCORE'
  ).split(' '),
)
const CONTAINERS: ReadonlySet<string> = new Set(
  'acl client cluster command config function latency memory module object pubsub script slowlog xgroup xinfo'.split(
    ' ',
  ),
)
