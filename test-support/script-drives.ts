import * as v from 'valibot'
import { json } from '../packages/keyspec/src/codec/json.ts'
import { type Connection, ONE_KEY, ONE_KEY_BYTES } from '../packages/keyspec/src/connection/connection.ts'
import { packed } from '../packages/inspect/src/scan/packed.ts'
import { open } from '../packages/keyspec/src/keyspace.ts'
import { ANY_KEY, VERBS } from '../packages/keyspec/src/kind/permission.ts'
import { workQueue } from '../packages/keyspec/src/recipe/work-queue/work-queue.ts'

/** One way through a script: what stands in Redis before, and the call. */
export interface Drive {
  /** Commands that make the keys. */
  readonly before?: readonly (readonly string[])[]
  /** What makes them where commands are not enough. */
  readonly prepare?: (connection: Connection) => Promise<unknown>
  /** The script's keys and arguments; or a verb that runs it. */
  readonly keys?: { readonly [name: string]: string | readonly string[] }
  readonly values?: Values | ((connection: Connection) => Promise<Values>)
  readonly run?: (connection: Connection) => Promise<unknown>
  /** A command that the user of this call lacks, and the script works without. */
  readonly without?: string
}

interface Values {
  readonly [name: string]: unknown
}

/** A row of the table. */
export interface Row {
  readonly drives: readonly Drive[]
  /** Declared commands that no server of this version needs, and why. */
  readonly unseen?: { readonly [command: string]: string }
  /** Writes over keys of any type, as SET, UNLINK and RENAME do. */
  readonly anyType?: true
  /** Answers for a key that is denied what it answers for one of another node; its caller then asks for that key alone. */
  readonly answersDenials?: true
}

const FOREVER = '3600000'
const RENEWED = { ttlMs: 3_600_000, renew: 'write' }
const CREATED = { ttlMs: 3_600_000, renew: 'creation' }
const ROUTE = { phase: '2', writes: false, sure: false, exists: false, given: [] as string[] }
const END = { first: '0', last: '1', from: '0', to: '9', count: 2 }
/** The letter of each type, and what makes a value of it. */
const VALUES = [
  ['t', 'SET', ''],
  ['t', 'SET', 'x'.repeat(5000)],
  ['h', 'HSET', 'f', 'v'],
  ['l', 'RPUSH', 'v'],
  ['s', 'SADD', 'v'],
  ['z', 'ZADD', '1', 'v'],
  ['x', 'XADD', '*', 'f', 'v'],
] as const
const OS_CLOCK = 'asked only on servers whose scripts have no os.clock'
const NO_PARTS = { cursor: '', count: 0, match: '', names: [] as string[] }

/** How each script is run in each of its branches, on keys that begin with `p`. A script without a row fails the test. */
export function scriptDrives(p: string): { readonly [script: string]: Row } {
  const [key, other] = [`${p}key`, `${p}other`]
  const window = { limit: 3, perMs: 60_000, cost: 1, force: false }
  const many = Array.from({ length: 12 }, (_, at) => `v${at}`)
  const beside = { from: key, aside: `${p}aside`, marker: `${p}marker` }
  const moving = [
    ['SET', `${p}aside`, 'v'],
    ['HSET', `${p}marker`, 'away', 't'],
  ]
  const restored = {
    keys: { to: key, marker: `${p}marker` },
    values: async (connection: Connection) => ({
      token: 't',
      dump: await connection.send(['DUMP', other], ONE_KEY_BYTES),
      endsAt: 0,
    }),
  }
  const expiring = (command: readonly string[]) => [command, ['PEXPIRE', key, FOREVER]]
  return {
    'kind/create-group': {
      drives: [
        { keys: { key }, values: { group: 'g', from: '0', ttlMs: 1000 } },
        {
          before: [['XADD', key, '1-1', 'f', 'v']],
          keys: { key },
          values: { group: 'g', from: '$', ttlMs: 1000 },
        },
      ],
    },
    'kind/update-fields': {
      drives: [
        { keys: { key }, values: { ...RENEWED, values: ['f', 'v'] } },
        { before: [['HSET', key, 'f', 'old']], keys: { key }, values: { ...CREATED, values: ['f', 'v'] } },
      ],
    },
    'kind/update-fields-if': {
      drives: [
        {
          before: [['HSET', key, 'f', 'old']],
          keys: { key },
          values: { ...CREATED, expected: 2, values: ['f', 'old', 'f', 'new'] },
        },
      ],
    },
    'kind/increment-field': {
      drives: [
        { keys: { key }, values: { ...CREATED, field: 'n', by: '1', back: '-1' } },
        {
          before: [['HSET', key, 'n', '9007199254740991']],
          keys: { key },
          values: { ...RENEWED, field: 'n', by: '1', back: '-1' },
        },
      ],
    },
    'kind/increment': {
      drives: [
        { keys: { key }, values: { ...CREATED, by: '1' } },
        { before: [['SET', key, '9007199254740991']], keys: { key }, values: { ...RENEWED, by: '1' } },
        { before: [['SET', key, '-9007199254740991']], keys: { key }, values: { ...RENEWED, by: '-1' } },
      ],
    },
    'kind/set-once': {
      anyType: true,
      drives: [
        { keys: { key }, values: { value: 'v', ttlMs: 1000, get: false, present: false } },
        {
          before: [['SET', key, 'old', 'PX', FOREVER]],
          keys: { key },
          values: { value: 'v', ttlMs: 1000, get: true, present: true },
        },
      ],
    },
    'kind/replace': {
      drives: [
        { keys: { key }, values: { ...CREATED, found: false, seen: '', value: 'v' } },
        {
          before: [['SET', key, 'old', 'PX', FOREVER]],
          keys: { key },
          values: { ...CREATED, found: true, seen: 'old', value: 'v' },
        },
        {
          before: [['SET', key, 'old']],
          keys: { key },
          values: { ...RENEWED, found: true, seen: 'x', value: 'v' },
        },
      ],
    },
    'kind/write': {
      drives: [
        ['HSET', ['f', 'v']],
        ['HSETNX', ['f', 'v']],
        ['LPUSH', ['v']],
        ['RPUSH', ['v']],
        ['SADD', ['v']],
        ['ZADD', ['1', 'v']],
        ['ZINCRBY', ['1', 'v']],
        ['XADD', ['*', 'f', 'v']],
        ['LSET', ['0', 'v'], [['RPUSH', key, 'a']]],
        ['LINSERT', ['BEFORE', 'a', 'v'], [['RPUSH', key, 'a']]],
      ].map(([command, values, before = []]) => ({
        before: before as string[][],
        keys: { key },
        values: { command, ...CREATED, lead: 0, slice: 4000, summed: false, values },
      })),
    },
    'kind/move-element': {
      drives: [
        {
          before: [['RPUSH', key, 'a', 'b']],
          keys: { source: key, destination: other },
          values: { ...CREATED, from: 'LEFT', to: 'RIGHT' },
        },
      ],
    },
    'kind/resolve': {
      anyType: true,
      drives: [
        { keys: { names: [key, other] }, values: { phase: '1', removes: false, counts: '2', given: [] } },
        {
          before: [['SET', other, 'v']],
          keys: { names: [key, other] },
          values: { phase: '2', removes: false, counts: '2', given: [] },
        },
        {
          before: [
            ['SET', key, 'v'],
            ['SET', other, 'v'],
          ],
          keys: { names: [key, other] },
          values: { phase: '1', removes: true, counts: '2', given: [] },
        },
        {
          before: [
            ['SET', other, 'v'],
            ['SET', `${p}third`, 'v'],
          ],
          keys: { names: [key, other, `${p}third`] },
          values: { phase: '2', removes: true, counts: '3', given: [] },
        },
      ],
    },
    'kind/route': {
      drives: [
        { keys: beside, values: { ...ROUTE, side: 'old', writes: true } },
        {
          before: [['HSET', `${p}marker`, 'away', '']],
          keys: beside,
          values: { ...ROUTE, side: 'new', sure: true },
        },
      ].map(({ keys: { from, ...rest }, ...drive }) => ({ ...drive, keys: { key: from, ...rest } })),
    },
    'kind/command': {
      unseen: Object.fromEntries(
        [...ANY_KEY, ...Object.values(VERBS).flat()].map((command) => [
          command,
          'it runs all commands alike',
        ]),
      ),
      anyType: true,
      drives: [
        { before: [['SET', key, 'v']], keys: { keys: [key] }, values: { before: 1, words: ['GET'] } },
        { keys: { keys: [key] }, values: { before: 1, words: ['SET', 'v', 'PX', FOREVER] } },
        { keys: { keys: [key] }, values: { before: 1, words: ['HSET', 'f', 'v'] } },
        {
          keys: { keys: [key] },
          values: { before: 2, words: ['XGROUP', 'CREATE', 'g', '0', 'MKSTREAM'] },
        },
        {
          before: [['RPUSH', key, 'a']],
          keys: { keys: [key, other] },
          values: { before: 1, words: ['LMOVE', 'LEFT', 'RIGHT'] },
        },
      ],
    },
    'kind/announce': {
      drives: [
        { keys: { register: key }, values: { pattern: 'a:<id>', phase: 1, leaseMs: 60_000 } },
        {
          before: [['ZADD', key, '1', '1 gone:<id>']],
          keys: { register: key },
          values: { pattern: 'a:<id>', phase: 2, leaseMs: 60_000 },
        },
        {
          before: [['ZADD', key, '9e15', '3 a:<id>']],
          keys: { register: key },
          values: { pattern: 'a:<id>', phase: 1, leaseMs: 60_000 },
        },
      ],
    },
    'kind/phases': {
      drives: [
        { before: [['ZADD', key, '1', '1 a:<id>']], keys: { register: key }, values: { pattern: 'a:<id>' } },
      ],
    },
    'kind/set-aside': {
      anyType: true,
      drives: [
        { before: [['SET', key, 'v', 'PX', FOREVER]], keys: beside, values: { token: 't' } },
        {
          before: [['SET', key, 'v', 'PX', FOREVER]],
          keys: beside,
          values: { token: 't' },
          without: 'pexpiretime',
        },
        { before: [['SET', `${p}aside`, 'v']], keys: beside, values: { token: 't' } },
      ],
    },
    'kind/restore-once': {
      drives: [
        { ...restored, before: [['SET', other, 'v']] },
        {
          ...restored,
          before: [
            ['SET', other, 'v'],
            ['HSET', `${p}marker`, 'away', 't'],
          ],
        },
        {
          ...restored,
          before: [
            ['SET', other, 'v'],
            ['SET', key, 'w'],
          ],
        },
      ],
    },
    'kind/end-move': {
      anyType: true,
      drives: [
        { before: moving, keys: beside, values: { token: 't', back: false } },
        { before: moving, keys: beside, values: { token: 't', back: true } },
        { before: [...moving, ['SET', key, 'w']], keys: beside, values: { token: 't', back: true } },
      ],
    },
    'kind/take-ends': {
      drives: [
        ...['LPOP', 'RPOP'].map((pop) => ({
          before: [['RPUSH', key, 'a', 'b']],
          keys: { key },
          values: { ...END, peek: 'LRANGE', pop, read: ['a', 'b'] },
        })),
        ...[
          ['ZRANGE', 'ZPOPMIN'],
          ['ZREVRANGE', 'ZPOPMAX'],
        ].map(([peek, pop]) => ({
          before: [['ZADD', key, '1', 'a', '2', 'b']],
          keys: { key },
          values: { ...END, peek, pop, read: ['a', 'b'] },
        })),
        {
          before: [['RPUSH', key, 'a', 'b']],
          keys: { key },
          values: { ...END, peek: 'LRANGE', pop: 'LPOP', read: ['b'] },
        },
      ],
    },
    'kind/take-members': {
      drives: [
        { before: [['SADD', key, 'a', 'b']], keys: { key }, values: { count: 2, most: 9, read: ['a', 'b'] } },
        { before: [['SADD', key, 'a', 'b']], keys: { key }, values: { count: 2, most: 9, read: ['a'] } },
      ],
    },
    'kind/take-value': {
      drives: [{ before: [['SET', key, 'v']], keys: { key }, values: { seen: 'v' } }],
    },
    'kind/take-count': {
      drives: [{ before: [['SET', key, '12']], keys: { key }, values: {} }],
    },
    'kind/set-together': {
      anyType: true,
      drives: [
        { keys: { keys: [key, other] }, values: { ttlMs: '1000', values: ['a', 'b'] } },
        { keys: { keys: [key, other] }, values: { ttlMs: '0', values: ['a', 'b'] } },
      ],
    },
    'lock/acquire': {
      drives: [
        { keys: { key, fences: [] }, values: { token: 'a', ttlMs: 1000, fenceTtlMs: 60_000, now: 0 } },
        {
          before: [['SET', key, 'b']],
          keys: { key, fences: [] },
          values: { token: 'a', ttlMs: 1000, fenceTtlMs: 60_000, now: 0 },
        },
      ],
    },
    'lock/acquire-fenced': {
      drives: [
        { keys: { key, fences: [other] }, values: { token: 'a', ttlMs: 1000, fenceTtlMs: 60_000 } },
        {
          before: [['SET', key, 'b']],
          keys: { key, fences: [other] },
          values: { token: 'a', ttlMs: 1000, fenceTtlMs: 60_000 },
        },
      ],
    },
    'lease/extend': {
      drives: [{ before: [['SET', key, 'a']], keys: { key }, values: { token: 'a', ttlMs: 1000 } }],
    },
    'lease/release': {
      drives: [{ before: [['SET', key, 'a']], keys: { key }, values: { token: 'a', wake: true } }],
    },
    'cache/store': {
      drives: [
        {
          before: [['SET', other, 'a']],
          keys: { entry: key, lock: [other] },
          values: { owner: 'a', wake: true, present: false, seen: '', value: 'v', ttlMs: 1000 },
        },
        {
          before: [
            ['SET', key, 'old'],
            ['SET', other, 'a'],
          ],
          keys: { entry: key, lock: [other] },
          values: { owner: 'a', wake: false, present: true, seen: 'old', value: 'v', ttlMs: 0 },
        },
      ],
    },
    'cache/conclude': {
      unseen: { DEL: 'only where Redis has no room for the outcome' },
      drives: [
        {
          before: [['SET', key, 'a']],
          keys: { lock: key },
          values: { owner: 'a', wake: true, outcome: 'o', ttlMs: 1000 },
        },
      ],
    },
    'cache/take-over': {
      drives: [
        {
          before: [['SET', key, 'o']],
          keys: { lock: key },
          values: { owner: 'a', outcome: 'o', ttlMs: 1000 },
        },
      ],
    },
    'cache/limit-lock': {
      drives: [{ before: [['SET', key, 'a']], keys: { lock: key }, values: { ttlMs: 1000 } }],
    },
    'sequence/next': {
      drives: [
        { keys: { key }, values: { ...CREATED, count: 5 } },
        { before: [['SET', key, '9007199254740990']], keys: { key }, values: { ...RENEWED, count: 5 } },
      ],
    },
    'sequence/at-least': {
      drives: [
        { before: [['SET', key, '5']], keys: { key }, values: { ...CREATED, value: '9' } },
        { before: expiring(['SET', key, '5']), keys: { key }, values: { ...CREATED, value: '9' } },
      ],
    },
    'swap/replace-set': {
      drives: [
        {
          before: [
            ['SADD', key, 'old'],
            ['SADD', other, 'left'],
          ],
          keys: { staging: other, key },
          values: { ttlMs: 1000, values: ['a', 'b'] },
        },
      ],
    },
    'swap/replace-hash': {
      drives: [
        {
          before: [
            ['HSET', key, 'old', '1'],
            ['HSET', other, 'left', '1'],
          ],
          keys: { staging: other, key },
          values: { ttlMs: 1000, values: ['a', 'b'] },
        },
      ],
    },
    'capped-list/add': {
      drives: [
        { before: [['RPUSH', key, ...many]], keys: { key }, values: { ...CREATED, most: 3, values: ['n'] } },
      ],
    },
    'quota/take': {
      drives: [
        {
          before: [['SET', other, '2', 'PX', FOREVER]],
          keys: { counters: [key, other] },
          values: { from: 0, till: 9e12, limit: 10, cost: 1, force: false, ttlMs: 1000 },
        },
      ],
    },
    'watermark/advance': {
      drives: [
        { keys: { key }, values: { ...CREATED, present: false, seen: '', value: 'v' } },
        {
          before: expiring(['SET', key, 'old']),
          keys: { key },
          values: { ...CREATED, present: true, seen: 'old', value: 'v' },
        },
      ],
    },
    'fixed-window/take': {
      drives: [
        { keys: { key }, values: { ...window, wary: false } },
        { before: expiring(['SET', key, '3']), keys: { key }, values: { ...window, wary: false } },
        { before: [['SET', key, '2']], keys: { key }, values: { ...window, wary: true } },
        { before: [['SET', key, '2']], keys: { key }, values: { ...window, wary: false, count: 3 } },
        {
          before: [['SET', key, '9223372036854775807']],
          keys: { key },
          values: { ...window, force: true, wary: true },
        },
      ],
    },
    'sliding-window/take': {
      drives: [
        { keys: { key }, values: window },
        { before: [['ZADD', key, '1', 'gone', '99999999999', 'ahead']], keys: { key }, values: window },
        {
          before: [['ZADD', key, '99999999999', 'a', '99999999999', 'b']],
          keys: { key },
          values: { ...window, limit: 1 },
        },
        { before: [['ZADD', key, '99999999999', 'a']], keys: { key }, values: { ...window, cost: 0 } },
      ],
    },
    'sliding-window/take-compact': {
      drives: [
        { keys: { key }, values: window },
        { before: [['SET', key, 'no window']], keys: { key }, values: window },
      ],
    },
    'dedupe/claim': {
      drives: [
        {
          before: [['SADD', key, 'a']],
          keys: { key },
          values: { ...CREATED, most: 5, candidates: ['a', 'b'] },
        },
      ],
    },
    ...queueDrives(p),
    'inspect/cleanup-repair': {
      anyType: true,
      drives: [
        {
          before: [
            ['SET', key, 'v'],
            ['SET', other, 'v'],
          ],
          keys: { targets: [key, other] },
          values: { fill: true, cap: false, values: ['string', '1000', '1000', 'string', '1000', '1000'] },
        },
      ],
    },
    'inspect/cleanup-idle': {
      anyType: true,
      drives: [{ before: [['SET', key, 'v']], keys: { targets: [key] }, values: { seconds: 0 } }],
    },
    'inspect/scan': {
      unseen: { TIME: OS_CLOCK },
      drives: [
        {
          before: [
            ['SET', key, 'v'],
            ['HSET', other, 'f', 'v'],
          ],
          keys: {},
          values: {
            cursor: '0',
            count: 1000,
            match: `${p}*`,
            ttl: true,
            memory: true,
            encoding: true,
            idle: true,
          },
        },
      ],
    },
    'inspect/values': {
      unseen: { TIME: OS_CLOCK },
      drives: [
        {
          before: [
            ['SET', `${p}t`, ''],
            ['SET', `${p}u`, 'x'.repeat(5000)],
            ['HSET', `${p}h`, 'f', 'v'],
            ['RPUSH', `${p}l`, 'v'],
            ['SADD', `${p}s`, 'v'],
            ['ZADD', `${p}z`, '1', 'v'],
            ['XADD', `${p}x`, '*', 'f', 'v'],
          ],
          keys: { keys: ['t', 'u', 'h', 'l', 's', 'z', 'x'].map((letter) => p + letter) },
          values: { names: '', types: 'tthlszx', most: 10, limit: 10_000, budget: 1e6 },
        },
        // Of keys that it is given by name, no proof comes first.
        ...VALUES.map(([letter, ...value]) => ({
          before: [[value[0], p + letter, ...value.slice(1)]],
          keys: { keys: [] },
          values: {
            names: packed([Buffer.from(p + letter)]),
            types: letter,
            most: 10,
            limit: 10_000,
            budget: 1e6,
          },
        })),
      ],
    },
    'inspect/restore': {
      anyType: true,
      drives: [{ keys: { keys: [key] }, values: { replace: false, packed: Buffer.alloc(12) } }],
    },
    'inspect/digest': {
      drives: [
        {
          before: [
            ['SET', key, 'v'],
            ['HSET', other, 'f', 'v'],
          ],
          keys: { keys: [key, other] },
          values: { budget: 1000 },
        },
      ],
    },
    'inspect/dump': {
      answersDenials: true,
      drives: [
        { before: expiring(['SET', key, 'v']), keys: { keys: [key] }, values: { ...NO_PARTS, budget: 1000 } },
        {
          before: expiring(['SET', key, 'v']),
          keys: { keys: [key] },
          values: { ...NO_PARTS, budget: 1000 },
          without: 'pexpiretime',
        },
        {
          before: [['SET', key, 'v']],
          keys: { keys: [] },
          values: { ...NO_PARTS, cursor: '0', count: 100_000, match: `${p}*`, budget: 1e6 },
        },
      ],
    },
    'inspect/permissions-probe': {
      drives: [{ keys: {}, values: { lines: ['["GET","k"]', '["NO SUCH"]'] } }],
    },
    'inspect/migrate-drop': {
      anyType: true,
      drives: [
        {
          before: [
            ['SET', key, 'v'],
            ['SET', other, 'v'],
          ],
          keys: { key, old: other },
          values: {},
        },
      ],
    },
  }
}

interface Job {
  readonly kind: string
}

function queueDrives(p: string): { readonly [script: string]: Row } {
  const queueOf = (connection: Connection, now?: () => number) => {
    const tally = (state: string) => ({ mail: `{q}:${state}:mail` })
    const queue = workQueue('{q}', json(v.object({ kind: v.string() })), {
      lease: '1s',
      keepCompleted: 2,
      dedupeWindow: 1,
      reason: 'a test',
      counters: {
        by: 'kind',
        waiting: tally('waiting'),
        done: tally('done'),
        failed: tally('failed'),
        also: { sum: '{q}:sum' },
      },
    })
    return open({ queue }, connection, { prefix: p, ...(now === undefined ? {} : { now }) }).queue()
  }
  const job: Job = { kind: 'mail' }
  const taken = async (connection: Connection, count = 2) => {
    // Long ago: by the server's clock the leases have run out.
    const queue = queueOf(connection, () => 1000)
    await queue.add(Array.from({ length: count }, () => job))
    return queue.take('w', count)
  }
  const done = async (connection: Connection) => {
    for (const { id } of await taken(connection, 4))
      await queueOf(connection, () => 1000).complete('w', { id, result: 'r' })
  }
  // The worker names its jobs, so that no confirmation of their arrival comes later, when others are being looked at.
  const heard = async (
    queue: ReturnType<typeof queueOf>,
    verb: (on: typeof queue) => Promise<unknown>,
  ): Promise<unknown> => {
    const answer = await verb(queue)
    await queue.renew('w', ['1', '2']).catch(() => {})
    return answer
  }
  const drifted = async (connection: Connection) => {
    await taken(connection)
    for (const state of ['waiting', 'done', 'failed'])
      await connection.send(['SET', `${p}{q}:${state}:mail`, '-5'], ONE_KEY)
  }
  return {
    'work-queue/add': {
      drives: [
        { prepare: drifted, run: (connection) => queueOf(connection).add([job]) },
        { run: (connection) => queueOf(connection).add([job, job], { token: 't' }) },
        {
          prepare: (connection) => queueOf(connection).add([job]),
          run: (connection) => queueOf(connection).add([job]),
        },
        {
          prepare: (connection) => queueOf(connection).add([job], { token: 't' }),
          run: (connection) => queueOf(connection).add([job], { token: 't' }),
        },
      ],
    },
    'work-queue/turn': {
      drives: [
        {
          prepare: drifted,
          run: (connection) => queueOf(connection).complete('w', { id: '1', result: 'r' }),
        },
        { prepare: taken, run: (connection) => queueOf(connection).recoverExpired() },
        { prepare: drifted, run: (connection) => queueOf(connection).recoverExpired() },
        {
          prepare: (connection) => queueOf(connection).add([job, job]),
          run: (connection) => heard(queueOf(connection), (queue) => queue.take('w', 2)),
        },
        {
          prepare: taken,
          run: (connection) => queueOf(connection).complete('w', { id: '1', result: 'r', add: { sum: 2 } }),
        },
        { prepare: taken, run: (connection) => queueOf(connection).complete('x', { id: '1', result: 'r' }) },
        { prepare: taken, run: (connection) => queueOf(connection).fail('w', ['1'], 'no') },
        { prepare: taken, run: (connection) => queueOf(connection).release('w', ['1', '2']) },
        {
          prepare: async (connection) => {
            await done(connection)
            await taken(connection, 1)
          },
          run: (connection) => queueOf(connection).complete('w', { id: '5', result: 'r' }),
        },
        {
          prepare: async (connection) => {
            await connection.send(
              ['HSET', `${p}{q}:done`, ...Array.from({ length: 9 }, (_, at) => [`old${at}`, 'r']).flat()],
              ONE_KEY,
            )
            await taken(connection)
          },
          run: (connection) => queueOf(connection).complete('w', { id: '1', result: 'r' }),
        },
      ],
    },
    'work-queue/confirm': {
      drives: [
        {
          prepare: taken,
          keys: { holders: `${p}{q}:holders`, deadlines: `${p}{q}:deadlines` },
          values: { worker: 'w', ids: ['1', '2'] },
        },
      ],
    },
    'work-queue/repair': {
      drives: ['jobs', 'leases', 'holders', 'attempts'].map((part) => ({
        prepare: async (connection: Connection) => {
          await taken(connection)
          for (const command of [
            ['ZREM', `${p}{q}:deadlines`, '1'],
            ['ZADD', `${p}{q}:deadlines`, '1', 'gone'],
            ['HSET', `${p}{q}:holders`, 'gone', 'w'],
            ['HSET', `${p}{q}:attempts`, 'gone', '1'],
          ])
            await connection.send(command, ONE_KEY)
        },
        keys: {
          waiting: `${p}{q}:waiting`,
          inProgress: `${p}{q}:in-progress`,
          holders: `${p}{q}:holders`,
          deadlines: `${p}{q}:deadlines`,
          attempts: `${p}{q}:attempts`,
        },
        values: { leaseMs: 1000, part, cursor: '0', size: 1000 },
      })),
    },
    'work-queue/renew': {
      drives: [{ prepare: taken, run: (connection) => queueOf(connection).renew('w', ['1', '2']) }],
    },
    'work-queue/held': {
      drives: [
        { prepare: taken, run: (connection) => heard(queueOf(connection), (queue) => queue.held('w')) },
      ],
    },
    'work-queue/stats': { drives: [{ prepare: done, run: (connection) => queueOf(connection).stats() }] },
    'work-queue/recount': {
      drives: [
        {
          prepare: async (connection) => {
            await queueOf(connection).add([job])
            await connection.send(['SET', `${p}{q}:waiting:mail`, '7'], ONE_KEY)
          },
          run: (connection) => queueOf(connection).recount(),
        },
      ],
    },
  }
}
