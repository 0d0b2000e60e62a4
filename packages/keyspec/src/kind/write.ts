import { type Argument, ONE_KEY, type Reply } from '../connection/connection.ts'
import { digits, flag, int, rest, text } from '../script/argument.ts'
import { anyReply } from '../connection/reply.ts'
import { script } from '../script/script.ts'
import type { Home } from './key.ts'
import { type Lifetime, ttlFor } from './lifetime.ts'
import * as lua from './lua.gen.ts'

/** The commands that write elements. */
const WRITES = [
  'HSET',
  'HSETNX',
  'LINSERT',
  'LPUSH',
  'LSET',
  'RPUSH',
  'SADD',
  'XADD',
  'ZADD',
  'ZINCRBY',
] as const

/** A command that writes elements. */
export type WriteCommand = (typeof WRITES)[number]

const write = script('kind/write', {
  keys: ['key'],
  args: { command: text, ttlMs: digits, renew: text, lead: int, slice: int, summed: flag, values: rest },
  lua: lua.write,
  commands: ['PEXPIRE', 'PTTL'],
  given: { command: WRITES },
  reply: anyReply,
})

/** How a long write is cut: elements of `group` arguments each stay whole; `sum` says that the replies add up. */
export interface WriteOptions {
  /** The arguments behind the key that every slice repeats: ZADD's NX, XADD's MAXLEN. */
  readonly lead?: readonly Argument[]
  /** How many arguments make one element: 2 for HSET's field and value. */
  readonly group?: number
  /** The replies of slices add up (HSET, SADD, ZADD); else the last one counts (RPUSH). */
  readonly sum?: boolean
}

const MOST = 4000

/**
 * Writes to a collection and gives the key its lifetime in the same atomic step: a key with a finite lifetime is never
 * seen, nor left by a crash, without its time to live. All elements are written in one step, however many, which holds the
 * server for some milliseconds a thousand (docs/design/bounds.md).
 */
export function writeWithLifetime(
  { connection, lifetime }: Home,
  key: string,
  command: WriteCommand,
  values: readonly Argument[],
  { lead = [], group = 1, sum = false }: WriteOptions = {},
): Promise<Reply> {
  const short = values.length <= MOST
  if (lifetime.ttlMs === 'forever' && short)
    return connection.send([command, key, ...lead, ...values], ONE_KEY)
  return write.run(
    connection,
    { key },
    {
      command,
      ttlMs: ttlFor(lifetime),
      renew: renewalOf(lifetime),
      lead: lead.length,
      slice: MOST - (MOST % group),
      summed: sum,
      values: [...lead, ...values],
    },
  )
}

/** When a write renews the time to live, for scripts; of no account where it is forever. */
export function renewalOf(lifetime: Lifetime): string {
  return lifetime.ttlMs === 'forever' ? 'write' : lifetime.renew
}
