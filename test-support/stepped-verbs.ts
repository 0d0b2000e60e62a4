import type { Key } from '../packages/keyspec/src/kind/key.ts'
import { held, look, remove, type VerbKeys, type VerbTable, write } from './verbs.ts'

const lockAndRelease = async (keys: VerbKeys) => {
  const first = await keys.fencedLock().acquire()
  if (!first.acquired) throw new Error('The lock is free, but was not acquired.')
  await first.release()
  return first.fence
}
/** The number of an earlier holder, or the id of an earlier entry, by the name of its key. */
const earlier = new Map<string, number | string>()
const noted = (key: Key, value: number | string) => void earlier.set(key.name, value)
const instantOf = (id: string) => id.split('-').map(Number) as [number, number]
const isLater = (id: string, than: string) => {
  const [[ms, nth], [thanMs, thanNth]] = [instantOf(id), instantOf(than)]
  return ms > thanMs || (ms === thanMs && nth > thanNth)
}
const WINDOWS = ['fixedWindow', 'slidingWindow', 'compactWindow'] as const

/** Verbs whose outcome depends on the time that has passed, beside those of the table of verbs. */
export const steppedTables: readonly VerbTable[] = [
  {
    name: 'lock',
    entry: 'lock',
    of: (keys) => keys.lock(),
    verbs: {
      'acquire while it is held': write((keys) => keys.lock().acquire(), {
        prepare: (keys) => keys.lock().acquire(),
        sees: 'sizes',
      }),
      'acquire with a fence above the last': look(
        async (keys) => {
          const before = earlier.get(keys.fencedLock().name) ?? 0
          return (await lockAndRelease(keys)) > Number(before)
        },
        { prepare: async (keys) => noted(keys.fencedLock(), await lockAndRelease(keys)) },
      ),
    },
  },
  {
    name: 'stream',
    entry: 'stream',
    of: (keys) => keys.stream(),
    verbs: {
      'add with an id above the last': write(
        async (keys) => {
          const before = String(earlier.get(keys.stream().name) ?? '0-0')
          return isLater(await keys.stream().add({ a: 'x' }), before)
        },
        { prepare: async (keys) => noted(keys.stream(), await keys.stream().add({ a: 'x' })) },
      ),
    },
  },
  {
    name: 'stream group',
    entry: 'stream',
    of: (keys) => keys.stream().group('g'),
    verbs: {
      'claim of a fresh delivery': write(
        (keys) => keys.stream().group('g').claim('me', { idleFor: '10m', limit: 1 }),
        {
          prepare: async (keys) => {
            await keys.stream().add({ a: 'x' }, { id: '1-1' })
            await keys.stream().group('g').create()
            await keys.stream().group('g').read('other', { limit: 1 })
          },
          says: () => 'claims it',
        },
      ),
    },
  },
  ...WINDOWS.map((entry): VerbTable => ({
    name: {
      fixedWindow: 'fixed window',
      slidingWindow: 'sliding window',
      compactWindow: 'compact sliding window',
    }[entry],
    entry,
    of: (keys) => keys[entry](),
    verbs: {
      'take from a full window': write((keys) => keys[entry]().take(1), {
        prepare: (keys) => keys[entry]().take(100),
        sees: 'sizes',
      }),
    },
  })),
  {
    name: 'quota',
    entry: 'quota',
    of: (keys) => keys.quota(),
    verbs: {
      'take from a full window': write((keys) => keys.quota().take(1), {
        prepare: (keys) => keys.quota().take(100),
      }),
    },
  },
  {
    name: 'queue',
    entry: 'jobs',
    of: (keys) => keys.jobs(),
    verbs: {
      'recoverExpired before a lease ends': remove((keys) => keys.jobs().recoverExpired(), {
        prepare: held,
        sees: 'sizes',
      }),
    },
  },
]
