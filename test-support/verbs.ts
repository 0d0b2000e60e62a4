import { integer } from '../packages/keyspec/src/codec/integer.ts'
import { text } from '../packages/keyspec/src/codec/text.ts'
import { type Connection, ONE_KEY } from '../packages/keyspec/src/connection/connection.ts'
import { counter } from '../packages/keyspec/src/kind/counter.ts'
import { Many } from '../packages/keyspec/src/kind/many.ts'
import { hash } from '../packages/keyspec/src/kind/hash.ts'
import { Key } from '../packages/keyspec/src/kind/key.ts'
import type { LifetimeOptions } from '../packages/keyspec/src/kind/lifetime.ts'
import { list } from '../packages/keyspec/src/kind/list.ts'
import { set } from '../packages/keyspec/src/kind/set.ts'
import { sortedSet } from '../packages/keyspec/src/kind/sorted-set.ts'
import { stream } from '../packages/keyspec/src/kind/stream.ts'
import { string } from '../packages/keyspec/src/kind/string.ts'
import type { Duration } from '../packages/keyspec/src/duration.ts'
import { type Keyspace, open } from '../packages/keyspec/src/keyspace.ts'
import type { Schema } from '../packages/keyspec/src/schema.ts'
import { param } from '../packages/keyspec/src/param.ts'
import { cache } from '../packages/keyspec/src/recipe/cache/cache.ts'
import { fixedWindow } from '../packages/keyspec/src/recipe/fixed-window/fixed-window.ts'
import { Lease } from '../packages/keyspec/src/recipe/lock/lease.ts'
import { lock } from '../packages/keyspec/src/recipe/lock/lock.ts'
import { quota } from '../packages/keyspec/src/recipe/quota/quota.ts'
import { cappedList } from '../packages/keyspec/src/recipe/capped-list/capped-list.ts'
import { dedupe } from '../packages/keyspec/src/recipe/dedupe/dedupe.ts'
import { sequence } from '../packages/keyspec/src/recipe/sequence/sequence.ts'
import { slidingWindow } from '../packages/keyspec/src/recipe/sliding-window/sliding-window.ts'
import { swapHash } from '../packages/keyspec/src/recipe/swap/swap-hash.ts'
import { swapSet } from '../packages/keyspec/src/recipe/swap/swap-set.ts'
import { watermark } from '../packages/keyspec/src/recipe/watermark/watermark.ts'
import { workQueue } from '../packages/keyspec/src/recipe/work-queue/work-queue.ts'

const limited = { per: '2h', limit: 100 } as const

/** One entry of each kind and recipe; those that take a lifetime have this one. */
const schemaOf = (ttl: LifetimeOptions) => ({
  string: string('string', text, ttl),
  strings: string('strings:<n>', text, ttl),
  counter: counter('counter', ttl),
  counters: counter('counters:<n>', ttl),
  hash: hash('hash', { a: integer, b: integer }, ttl),
  list: list('list', text, ttl),
  set: set('set', text, ttl),
  sets: set('sets:<n>', text, ttl),
  sortedSet: sortedSet('zset', text, ttl),
  stream: stream('stream', { a: text }, ttl),
  dedupe: dedupe('seen', text, ttl),
  cappedList: cappedList('recent', text, { ...ttl, most: 10 }),
  swapSet: swapSet('snapshot', text, { ...ttl, staging: 'snapshot:next' }),
  swapHash: swapHash('scored', text, integer, { ...ttl, staging: 'scored:next' }),
  sequence: sequence('sequence', ttl),
  watermark: watermark('watermark', integer, ttl),
  cache: cache('cache', text, { ...ttl, lock: 'loading' }),
  caches: cache('caches:<n>', text, { ...ttl, lock: 'loading:<n>' }),
  fixedWindow: fixedWindow('fixed', limited),
  slidingWindow: slidingWindow('sliding', limited),
  compactWindow: slidingWindow('compact', { ...limited, form: 'compact' }),
  refusingWindow: fixedWindow('refusing', { ...limited, unreachable: 'refuse' }),
  quota: quota('quota:<day>', { limit: 100, ttl: '2d', params: { day: param.day } }),
  lock: lock('lock', { ttl: '2h' }),
  fencedLock: lock('fenced', { ttl: '2h', fence: 'fence' }),
  jobs: workQueue('jobs', text, { lease: '2h', keepCompleted: 10 }),
})

/** The entries whose writes a replica acknowledges. A cluster refuses them. */
const replicatedSchemaOf = (within: Duration) => {
  const replicated = { to: 1, within } as const
  return {
    replicatedLock: lock('replicated-lock', { ttl: '2h', replicated }),
    replicatedSequence: sequence('replicated-sequence', { ttl: '2h', replicated }),
    replicatedJobs: workQueue('replicated-jobs', text, { lease: '2h', keepCompleted: 10, replicated }),
  }
}

/** A second connection for writes that a replica acknowledges, and how long they wait for it. */
export interface Replicating {
  readonly connection: Connection
  readonly within: Duration
}

export type VerbKeys = Keyspace<ReturnType<typeof schemaOf> & ReturnType<typeof replicatedSchemaOf>>

/**
 * The keyspace of `verbTables` behind a prefix; with a second connection, that of `replicatedTables` too. Each entry is opened
 * when it is used: a verb uses one or two of them, and a test opens thousands of keyspaces.
 */
export function openVerbs(
  connection: Connection,
  prefix: string,
  ttl: LifetimeOptions = { ttl: '2h' },
  replicating?: Replicating,
): VerbKeys {
  const options = { prefix, ...(replicating && { replicating: replicating.connection }) }
  const keys = {}
  for (const [entry, kind] of Object.entries(knownSchema(ttl, replicating?.within))) {
    let handle: unknown
    Object.defineProperty(keys, entry, {
      enumerable: true,
      get: () => (handle ??= open({ [entry]: kind }, connection, options)[entry]),
    })
  }
  return keys as VerbKeys
}

const known = new Map<string, Schema>()

function knownSchema(ttl: LifetimeOptions, within: Duration | undefined): Schema {
  const name = JSON.stringify([ttl, within])
  let schema = known.get(name)
  if (schema === undefined) {
    schema = within === undefined ? schemaOf(ttl) : { ...schemaOf(ttl), ...replicatedSchemaOf(within) }
    known.set(name, schema)
  }
  return schema
}

/** What a test may do beside the verb: send a command, and name a key. */
export interface Beside {
  readonly connection: Connection
  readonly prefix: string
}

/**
 * What a verb does to its key: `read`s it, which renews it where reads do; `write`s it; `begin`s it where there is none and
 * else leaves its lifetime alone; takes elements away, or looks at what no lifetime depends on (`none`); sets the time to
 * live itself (`life`).
 */
export type Effect = 'read' | 'write' | 'begin' | 'none' | 'life'

/** How the raw state shows that a verb was applied: by its values, by how much there is, or by when it ends. */
export type Sees = 'values' | 'sizes' | 'ends'

/** One verb, on a state that was prepared. */
export interface Verb {
  readonly effect: Effect
  /** Changes nothing in Redis but a time to live. */
  readonly changes: boolean
  /** Prepares the state; the table's own preparation if it is left out, none if null. */
  readonly prepare?: ((keys: VerbKeys, beside: Beside) => Promise<unknown>) | null
  /**
   * Calls the verb. A verb that asks something first, or needs a handle that another verb gives, takes `lose` and calls it
   * when the fault is to begin.
   */
  act(keys: VerbKeys, lose: () => void): Promise<unknown>
  readonly sees?: Sees
  /** Makes the state in which a verb that prepares something itself has not been applied. */
  readonly unapplied?: (keys: VerbKeys) => Promise<unknown>
  /** It puts a new key in place of the old one, so a new life begins. */
  readonly anew?: boolean
  /** It takes several commands, so a fault may fall between them. */
  readonly steps?: boolean
  /** Its cell where a client may give up a connection on which calls wait, if that is not the cell of other verbs. */
  readonly atFailover?: string
  /** What its answer is called where that says more than "answers". */
  readonly says?: (answer: any) => string | undefined
}

/** The verbs of one handle, which `of` gives. */
export interface VerbTable {
  readonly name: string
  /** The entry of the keyspace, whose main key is the first of its name. */
  readonly entry: keyof VerbKeys
  of(keys: VerbKeys): object
  readonly prepare?: (keys: VerbKeys, beside: Beside) => Promise<unknown>
  readonly verbs: { readonly [verb: string]: Verb }
}

type Act = Verb['act']
type More = Partial<Omit<Verb, 'act' | 'effect'>>
const read = (act: Act, more: More = {}): Verb => ({ effect: 'read', changes: false, act, ...more })
export const look = (act: Act, more: More = {}): Verb => ({ effect: 'none', changes: false, act, ...more })
export const write = (act: Act, more: More = {}): Verb => ({ effect: 'write', changes: true, act, ...more })
const begin = (act: Act, more: More = {}): Verb => ({ effect: 'begin', changes: true, act, ...more })
export const remove = (act: Act, more: More = {}): Verb => ({ effect: 'none', changes: true, act, ...more })
export const life = (act: Act, more: More = {}): Verb => ({
  effect: 'life',
  changes: true,
  sees: 'ends',
  act,
  ...more,
})

const fresh = { prepare: null } as const
const three = [{ n: 1 }, { n: 2 }, { n: 3 }]
const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
const refused = ({ from }: { from: string }) => (from === 'unreachable' ? 'refused' : undefined)
/** The members of a sliding window are instants. */
const bySize = (entry: string): More => (entry === 'slidingWindow' ? { sees: 'sizes' } : {})
/** How many entries a group's `claim` found. */
const claimed = ({ entries }: { readonly entries: readonly unknown[] }) =>
  entries.length === 0 ? 'claims nothing' : undefined
const loaded = () => 'the loaded value'
const shortly = (key: (keys: VerbKeys) => Key) => async (keys: VerbKeys) => {
  await keys.string().set('a')
  await key(keys).expireIn('20m')
}
/** Ten jobs, of which the worker holds the first two, whose leases end in 20 minutes. */
export const held = async (keys: VerbKeys, { connection, prefix }: Beside) => {
  await keys.jobs().add(['a', 'b', 'c', 'd'])
  await keys.jobs().take('me', 2)
  // Even: the worker is known to have the jobs, so nothing changes when the client says so.
  const soon = String(Math.ceil(Date.now() / 2) * 2 + 1_200_000)
  await connection.send(['ZADD', `${prefix}jobs:deadlines`, soon, '1', soon, '2'], ONE_KEY)
}
/** As `held`, and the leases have run out. */
export const lapsed = async (keys: VerbKeys, beside: Beside) => {
  await held(keys, beside)
  await beside.connection.send(['ZADD', `${beside.prefix}jobs:deadlines`, '1', '1', '1', '2'], ONE_KEY)
}
const acquired = async (keys: VerbKeys, lose: () => void) => {
  const taken = await keys.lock().acquire()
  if (!taken.acquired) throw new Error('The lock is free, but was not acquired.')
  lose()
  return taken
}
const grouped = (keys: VerbKeys) => keys.stream().group('g')

const stringVerbs = {
  get: read((keys) => keys.string().get()),
  set: write((keys) => keys.string().set('b')),
  setIfAbsent: write((keys) => keys.string().setIfAbsent('b'), fresh),
  setIfPresent: write((keys) => keys.string().setIfPresent('b')),
  getAndSet: write((keys) => keys.string().getAndSet('b')),
  getAndDelete: remove((keys) => keys.string().getAndDelete()),
  update: write(
    (keys, lose) =>
      keys.string().update((value) => {
        lose()
        return `${value}b`
      }),
    { steps: true },
  ),
}

/** Every verb of every kind and recipe. A test compares it with the handles, so none can be missing. */
export const verbTables: readonly VerbTable[] = [
  {
    name: 'key',
    entry: 'string',
    of: () => Key.prototype,
    prepare: shortly((keys) => keys.string()),
    verbs: {
      exists: look((keys) => keys.string().exists()),
      delete: remove((keys) => keys.string().delete()),
      ttlMs: look((keys) => keys.string().ttlMs()),
      renew: life((keys) => keys.string().renew()),
      expireIn: life((keys) => keys.string().expireIn('1h')),
    },
  },
  {
    name: 'many',
    entry: 'strings',
    of: () => Many.prototype,
    prepare: (keys) => keys.strings.many(three).set(['a', 'b', 'c']),
    verbs: {
      exists: look((keys) => keys.strings.many(three).exists()),
      delete: remove((keys) => keys.strings.many(three).delete(), { steps: true }),
    },
  },
  {
    name: 'string',
    entry: 'string',
    of: (keys) => keys.string(),
    prepare: (keys) => keys.string().set('a'),
    verbs: stringVerbs,
  },
  {
    name: 'many strings',
    entry: 'strings',
    of: (keys) => keys.strings.many([]),
    prepare: (keys) => keys.strings.many(three).set(['a', 'b', 'c']),
    verbs: {
      get: read((keys) => keys.strings.many(three).get()),
      set: write((keys) => keys.strings.many(three).set(['d', 'e', 'f']), { steps: true }),
    },
  },
  {
    name: 'counter',
    entry: 'counter',
    of: (keys) => keys.counter(),
    prepare: (keys) => keys.counter().set(100),
    verbs: {
      get: read((keys) => keys.counter().get()),
      increment: write((keys) => keys.counter().increment(5)),
      decrement: write((keys) => keys.counter().decrement(5)),
      getAndReset: remove((keys) => keys.counter().getAndReset()),
      getAndDelete: remove((keys) => keys.counter().getAndDelete()),
    },
  },
  {
    name: 'many counters',
    entry: 'counters',
    of: (keys) => keys.counters.many([]),
    prepare: (keys) => keys.counters.many(three).set([1, 2, 3]),
    verbs: { get: read((keys) => keys.counters.many(three).get()) },
  },
  {
    name: 'hash',
    entry: 'hash',
    of: (keys) => keys.hash(),
    prepare: (keys) => keys.hash().set({ a: 1 }),
    verbs: {
      get: read((keys) => keys.hash().get()),
      getField: read((keys) => keys.hash().getField('a')),
      getFields: read((keys) => keys.hash().getFields('a', 'b')),
      set: write((keys) => keys.hash().set({ a: 2 })),
      setIfAbsent: write((keys) => keys.hash().setIfAbsent('b', 2)),
      update: write((keys) => keys.hash().update({ a: 2 })),
      updateIf: write((keys) => keys.hash().updateIf({ a: 1 }, { a: 2 })),
      increment: write((keys) => keys.hash().increment('a')),
      remove: remove((keys) => keys.hash().remove('a')),
      has: read((keys) => keys.hash().has('a')),
      size: read((keys) => keys.hash().size()),
      fields: read((keys) => keys.hash().fields()),
      scan: read((keys) => all(keys.hash().scan())),
    },
  },
  {
    name: 'list',
    entry: 'list',
    of: (keys) => keys.list(),
    prepare: (keys) => keys.list().pushBack('a', 'b', 'a', 'c', 'a', 'd', 'e'),
    verbs: {
      pushFront: write((keys) => keys.list().pushFront('x')),
      pushBack: write((keys) => keys.list().pushBack('x')),
      popFront: remove((keys) => keys.list().popFront()),
      popBack: remove((keys) => keys.list().popBack()),
      range: read((keys) => keys.list().range()),
      at: read((keys) => keys.list().at(1)),
      indexOf: read((keys) => keys.list().indexOf('b')),
      length: read((keys) => keys.list().length()),
      setAt: write((keys) => keys.list().setAt(0, 'x')),
      insert: write((keys) => keys.list().insert('x', { after: 'b' })),
      trim: remove((keys) => keys.list().trim(0, 2)),
      remove: remove((keys) => keys.list().remove('a', { count: 1 })),
      move: write((keys) => keys.list().move('front', 'back')),
      scan: read((keys) => all(keys.list().scan())),
    },
  },
  {
    name: 'set',
    entry: 'set',
    of: (keys) => keys.set(),
    prepare: (keys) => keys.set().add('a', 'b', 'c', 'd'),
    verbs: {
      add: write((keys) => keys.set().add('x')),
      remove: remove((keys) => keys.set().remove('a')),
      has: read((keys) => keys.set().has('a')),
      hasMany: read((keys) => keys.set().hasMany(['a', 'x'])),
      members: read((keys) => keys.set().members()),
      size: read((keys) => keys.set().size()),
      random: read((keys) => keys.set().random()),
      pop: remove((keys) => keys.set().pop(), { sees: 'sizes' }),
      scan: read((keys) => all(keys.set().scan())),
    },
  },
  {
    name: 'many sets',
    entry: 'sets',
    of: (keys) => keys.sets.many([]),
    prepare: (keys) => Promise.all(three.map((at) => keys.sets(at).add('a', `b${at.n}`))),
    verbs: {
      union: read((keys) => keys.sets.many(three).union()),
      intersect: read((keys) => keys.sets.many(three).intersect()),
      difference: read((keys) => keys.sets.many(three).difference()),
    },
  },
  {
    name: 'sorted set',
    entry: 'sortedSet',
    of: (keys) => keys.sortedSet(),
    prepare: (keys) => keys.sortedSet().add(['a', 'b', 'c', 'd'].map((value, score) => ({ value, score }))),
    verbs: {
      add: write((keys) => keys.sortedSet().add({ value: 'x', score: 9 })),
      increment: write((keys) => keys.sortedSet().increment('a', 5)),
      score: read((keys) => keys.sortedSet().score('a')),
      scores: read((keys) => keys.sortedSet().scores(['a', 'x'])),
      rank: read((keys) => keys.sortedSet().rank('b')),
      range: read((keys) => keys.sortedSet().range()),
      rangeByScore: read((keys) => keys.sortedSet().rangeByScore({ min: 1 })),
      count: read((keys) => keys.sortedSet().count()),
      size: read((keys) => keys.sortedSet().size()),
      remove: remove((keys) => keys.sortedSet().remove('a')),
      removeRange: remove((keys) => keys.sortedSet().removeRange(0, 0)),
      removeByScore: remove((keys) => keys.sortedSet().removeByScore({ max: 0 })),
      popLowest: remove((keys) => keys.sortedSet().popLowest()),
      popHighest: remove((keys) => keys.sortedSet().popHighest()),
      scan: read((keys) => all(keys.sortedSet().scan())),
    },
  },
  {
    name: 'stream',
    entry: 'stream',
    of: (keys) => keys.stream(),
    prepare: async (keys) => {
      for (const id of ['1-1', '1-2', '1-3', '1-4']) await keys.stream().add({ a: 'x' }, { id })
      await grouped(keys).create()
    },
    verbs: {
      add: write((keys) => keys.stream().add({ a: 'x' })),
      range: read((keys) => keys.stream().range()),
      get: read((keys) => keys.stream().get('1-1')),
      readAfter: read((keys) => keys.stream().readAfter('0')),
      length: read((keys) => keys.stream().length()),
      trim: remove((keys) => keys.stream().trim({ maxLength: 2, exact: true })),
      remove: remove((keys) => keys.stream().remove('1-1')),
      info: look((keys) => keys.stream().info()),
    },
  },
  {
    name: 'stream group',
    entry: 'stream',
    of: grouped,
    prepare: async (keys) => {
      for (const id of ['1-1', '1-2', '1-3', '1-4']) await keys.stream().add({ a: 'x' }, { id })
      await grouped(keys).create()
      await grouped(keys).read('other', { limit: 2 })
    },
    verbs: {
      create: begin((keys) => keys.stream().group('h').create()),
      read: { ...read((keys) => grouped(keys).read('me', { limit: 1 })), changes: true },
      readAgain: read((keys) => grouped(keys).readAgain('other')),
      ack: remove((keys) => grouped(keys).ack('1-1')),
      pending: look((keys) => grouped(keys).pending()),
      claim: {
        ...read((keys) => grouped(keys).claim('me', { idleFor: '1ms', limit: 1 })),
        changes: true,
        says: claimed,
      },
      info: look((keys) => grouped(keys).info()),
      delete: remove((keys) => grouped(keys).delete(), { steps: true }),
    },
  },
  {
    name: 'dedupe',
    entry: 'dedupe',
    of: (keys) => keys.dedupe(),
    prepare: (keys) => keys.dedupe().claim(['a', 'b']),
    verbs: {
      claim: write((keys) => keys.dedupe().claim(['x', 'y'])),
      has: read((keys) => keys.dedupe().has('a')),
      size: read((keys) => keys.dedupe().size()),
      forget: remove((keys) => keys.dedupe().forget('a')),
    },
  },
  {
    name: 'capped list',
    entry: 'cappedList',
    of: (keys) => keys.cappedList(),
    prepare: (keys) => keys.cappedList().add('a', 'b'),
    verbs: {
      add: write((keys) => keys.cappedList().add('x')),
      list: read((keys) => keys.cappedList().list()),
      latest: read((keys) => keys.cappedList().latest()),
      size: read((keys) => keys.cappedList().size()),
      clear: remove((keys) => keys.cappedList().clear()),
    },
  },
  {
    name: 'swap set',
    entry: 'swapSet',
    of: (keys) => keys.swapSet(),
    prepare: (keys) => keys.swapSet().replace(['a', 'b']),
    verbs: {
      replace: write((keys) => keys.swapSet().replace(['x', 'y']), { anew: true }),
      members: read((keys) => keys.swapSet().members()),
      has: read((keys) => keys.swapSet().has('a')),
      size: read((keys) => keys.swapSet().size()),
    },
  },
  {
    name: 'swap hash',
    entry: 'swapHash',
    of: (keys) => keys.swapHash(),
    prepare: (keys) => keys.swapHash().replace([['a', 1]]),
    verbs: {
      replace: write((keys) => keys.swapHash().replace([['x', 1]]), { anew: true }),
      scores: read((keys) => keys.swapHash().scores()),
      score: read((keys) => keys.swapHash().score('a')),
      has: read((keys) => keys.swapHash().has('a')),
      size: read((keys) => keys.swapHash().size()),
    },
  },
  {
    name: 'sequence',
    entry: 'sequence',
    of: (keys) => keys.sequence(),
    prepare: (keys) => keys.sequence().next(),
    verbs: {
      current: read((keys) => keys.sequence().current()),
      next: write((keys) => keys.sequence().next()),
      nextMany: write((keys) => keys.sequence().nextMany(5)),
      atLeast: write((keys) => keys.sequence().atLeast(50)),
    },
  },
  {
    name: 'watermark',
    entry: 'watermark',
    of: (keys) => keys.watermark(),
    prepare: (keys) => keys.watermark().advance(1),
    verbs: {
      get: read((keys) => keys.watermark().get()),
      advance: write((keys) => keys.watermark().advance(2), { steps: true }),
    },
  },
  {
    name: 'cache',
    entry: 'cache',
    of: (keys) => keys.cache(),
    prepare: (keys) => keys.cache().set('a'),
    verbs: {
      get: read((keys) => keys.cache().get()),
      delete: remove((keys) => keys.cache().delete(), { steps: true }),
      getAndDelete: remove((keys) => keys.cache().getAndDelete(), { steps: true }),
      getOrLoad: write(
        (keys, lose) =>
          keys.cache().getOrLoad(() => {
            lose()
            return 'x'
          }),
        { ...fresh, steps: true, says: loaded, atFailover: '0 or 1, the loaded value' },
      ),
    },
  },
  {
    name: 'many cached',
    entry: 'caches',
    of: (keys) => keys.caches.many([]),
    prepare: (keys) => keys.caches.many(three).set(['a', 'b', 'c']),
    verbs: {
      get: read((keys) => keys.caches.many(three).get()),
      delete: remove((keys) => keys.caches.many(three).delete(), { steps: true }),
      getOrLoad: write(
        (keys, lose) =>
          keys.caches.many(three).getOrLoad(async (params) => {
            lose()
            return params.map(({ n }) => `x${n}`)
          }),
        { ...fresh, steps: true, says: loaded, atFailover: '0 or 1, the loaded value' },
      ),
    },
  },
  ...(['fixedWindow', 'slidingWindow', 'compactWindow', 'refusingWindow'] as const).map(
    (entry): VerbTable => ({
      name: {
        fixedWindow: 'fixed window',
        slidingWindow: 'sliding window',
        compactWindow: 'compact sliding window',
        refusingWindow: "window with `unreachable: 'refuse'`",
      }[entry],
      entry,
      of: (keys) => keys[entry](),
      prepare: (keys) => keys[entry]().take(2),
      verbs: {
        take: write((keys) => keys[entry]().take(3), {
          ...bySize(entry),
          says: refused,
          ...(entry === 'refusingWindow' && { atFailover: '1, answers; or 0 or 1, refused' }),
        }),
        peek: look((keys) => keys[entry]().peek()),
        reset: remove((keys) => keys[entry]().reset(), bySize(entry)),
      },
    }),
  ),
  {
    name: 'quota',
    entry: 'quota',
    of: (keys) => keys.quota(),
    prepare: (keys) => keys.quota().take(2),
    verbs: {
      take: write((keys) => keys.quota().take(3)),
      peek: look((keys) => keys.quota().peek()),
      at: look((keys) => keys.quota().at(new Date())),
    },
  },
  {
    name: 'lock',
    entry: 'lock',
    of: (keys) => keys.lock(),
    verbs: {
      acquire: write((keys) => keys.lock().acquire(), { sees: 'sizes', steps: true }),
      'acquire with a fence': write((keys) => keys.fencedLock().acquire(), { sees: 'sizes', steps: true }),
      using: write(
        (keys, lose) =>
          keys.lock().using(() => {
            lose()
            return 'done'
          }),
        {
          sees: 'sizes',
          steps: true,
          changes: false,
          says: (used) => (used.acquired ? "the work's value" : undefined),
          atFailover: "the work's value, or `E_UNKNOWN_OUTCOME`",
        },
      ),
    },
  },
  {
    name: 'held lock',
    entry: 'lock',
    of: () => Lease.prototype,
    verbs: {
      extend: life(async (keys, lose) => (await acquired(keys, lose)).extend('10h'), {
        steps: true,
        unapplied: (keys) => keys.lock().acquire(),
      }),
      release: remove(async (keys, lose) => (await acquired(keys, lose)).release(), {
        sees: 'sizes',
        steps: true,
        unapplied: (keys) => keys.lock().acquire(),
      }),
    },
  },
  {
    name: 'queue',
    entry: 'jobs',
    of: (keys) => keys.jobs(),
    prepare: held,
    verbs: {
      add: write((keys) => keys.jobs().add(['x', 'y']), { sees: 'sizes' }),
      'add with a token': write((keys) => keys.jobs().add(['x', 'y'], { token: 'once' }), { sees: 'sizes' }),
      'add with unique names': write((keys) => keys.jobs().add(['x', 'y'], { unique: (job) => job }), {
        sees: 'sizes',
      }),
      take: write((keys) => keys.jobs().take('me'), { sees: 'sizes' }),
      takeWhenAvailable: write((keys) => keys.jobs().takeWhenAvailable('me', { wait: '1s' }), {
        sees: 'sizes',
      }),
      complete: write((keys) => keys.jobs().complete('me', { id: '1', result: 1 }), { sees: 'sizes' }),
      fail: write((keys) => keys.jobs().fail('me', ['1'], 'why'), { sees: 'sizes' }),
      release: write((keys) => keys.jobs().release('me', ['1']), { sees: 'sizes' }),
      completeAndTake: write(
        (keys) => keys.jobs().completeAndTake('me', { completed: [{ id: '1', result: 1 }], take: 1 }),
        { sees: 'sizes' },
      ),
      renew: life((keys) => keys.jobs().renew('me', ['1', '2'])),
      held: life((keys) => keys.jobs().held('me')),
      running: look((keys) => keys.jobs().running('1')),
      recoverExpired: write((keys) => keys.jobs().recoverExpired(), { prepare: lapsed, sees: 'sizes' }),
      stats: look((keys) => keys.jobs().stats()),
      recount: look((keys) => keys.jobs().recount()),
      repair: look((keys) => keys.jobs().repair()),
      peek: look((keys) => keys.jobs().peek()),
      inProgress: look((keys) => all(keys.jobs().inProgress())),
      result: look((keys) => keys.jobs().result('1')),
      failures: look((keys) => all(keys.jobs().failures())),
    },
  },
]

/** Public methods that touch no key, so they are no verbs: tests name them. */
const NO_VERBS = new Set(['constructor', 'namesAt', 'giveBack', 'acknowledged', 'group', 'watch', 'settle'])
/** Methods of the library itself: the compiler hides them from programs. */
const INTERNAL = new Set([
  'send',
  'read',
  'encode',
  'decode',
  'taken',
  'write',
  'encodeAll',
  'decodeAll',
  'decodeOne',
  'stored',
  'put',
  'valueIn',
  'combine',
  'swap',
  'whole',
  'find',
  'valueLoaded',
  'copy',
  'issue',
  'raise',
])

/** The methods that a handle adds to those of `Key` and `Many`, by its class and the classes between. */
export function methodsOf(table: VerbTable, keys: VerbKeys): string[] {
  const handle = table.of(keys)
  const isPrototype = Object.hasOwn(handle, 'constructor')
  const found = new Set<string>()
  let at: object | null = isPrototype ? handle : Object.getPrototypeOf(handle)
  for (; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    const isBase = at === Key.prototype || at === Many.prototype
    if (isBase && handle !== at) break
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (typeof value === 'function' && !NO_VERBS.has(name)) found.add(name)
    // Strings, counters and caches share their verbs, which stand once in the table.
    if (INHERITED.has(table.name)) break
  }
  return [...found].filter((name) => Object.hasOwn(table.verbs, name) || !INTERNAL.has(name))
}

const INHERITED = new Set(['counter', 'many counters', 'cache', 'many cached', 'many strings', 'many sets'])
