import { Lease } from '../packages/keyspec/src/recipe/lock/lease.ts'
import type { Connection } from '../packages/keyspec/src/connection/connection.ts'
import type { Duration } from '../packages/keyspec/src/duration.ts'
import type { OpenKeys } from './measured.ts'
import { life, look, openVerbs, remove, type Verb, type VerbKeys, type VerbTable, write } from './verbs.ts'

/** How many replicas the answer says have the write. */
const acknowledged = (answer: { readonly replicas?: number }) => `\`replicas: ${answer.replicas}\``
const ofEach = ([first]: readonly { readonly replicas?: number }[]) => acknowledged(first!)
const bySize = { sees: 'sizes', says: acknowledged } as const

async function acquired(keys: VerbKeys, lose: () => void) {
  const taken = await keys.replicatedLock().acquire()
  if (!taken.acquired) throw new Error('The lock is free, but was not acquired.')
  lose()
  return taken
}
const held = async (keys: VerbKeys) => {
  await keys.replicatedJobs().add(['a', 'b', 'c', 'd'])
  await keys.replicatedJobs().take('me', 2)
}
const once = (act: Verb['act']) => write(act, bySize)
const unapplied = (keys: VerbKeys) => keys.replicatedLock().acquire()

/** Opens the keys of one verb, whose second connection is an object of its own: so the verbs do not take turns. */
export function openBeside(second: Connection, within: Duration): OpenKeys {
  return (connection, prefix) =>
    openVerbs(connection, prefix, undefined, {
      connection: {
        ...second,
        masters: () => second.masters(),
        send: (command, shape) => second.send(command, shape),
      },
      within,
    })
}

/** The verbs whose writes a replica acknowledges, and those beside them that wait for none. A test compares them with the handles. */
export const replicatedTables: readonly VerbTable[] = [
  {
    name: 'lock',
    entry: 'replicatedLock',
    of: (keys) => keys.replicatedLock(),
    verbs: {
      acquire: write((keys) => keys.replicatedLock().acquire(), { ...bySize, steps: true }),
      using: write((keys) => keys.replicatedLock().using((_, { replicas }) => ({ replicas })), {
        sees: 'sizes',
        steps: true,
        changes: false,
        says: (used) => (used.acquired ? `the work's value, ${acknowledged(used.value)}` : undefined),
      }),
    },
  },
  {
    name: 'held lock',
    entry: 'replicatedLock',
    of: () => Lease.prototype,
    verbs: {
      extend: life(
        async (keys, lose) => {
          const taken = await acquired(keys, lose)
          return (await taken.extend('10h')) ? taken : undefined
        },
        { says: acknowledged, unapplied, steps: true },
      ),
      release: remove(async (keys, lose) => (await acquired(keys, lose)).release(), {
        sees: 'sizes',
        unapplied,
        steps: true,
      }),
    },
  },
  {
    name: 'sequence',
    entry: 'replicatedSequence',
    of: (keys) => keys.replicatedSequence(),
    prepare: (keys) => keys.replicatedSequence().next(),
    verbs: {
      current: look((keys) => keys.replicatedSequence().current()),
      next: write((keys) => keys.replicatedSequence().next(), { says: acknowledged }),
      nextMany: write((keys) => keys.replicatedSequence().nextMany(5), { says: acknowledged }),
      atLeast: write((keys) => keys.replicatedSequence().atLeast(50), { says: acknowledged }),
    },
  },
  {
    name: 'queue',
    entry: 'replicatedJobs',
    of: (keys) => keys.replicatedJobs(),
    prepare: held,
    verbs: {
      add: once((keys) => keys.replicatedJobs().add(['x', 'y'])),
      'add with a token': once((keys) => keys.replicatedJobs().add(['x', 'y'], { token: 'once' })),
      'add with unique names': once((keys) =>
        keys.replicatedJobs().add(['x', 'y'], { unique: (job) => job }),
      ),
      complete: write((keys) => keys.replicatedJobs().complete('me', { id: '1', result: 1 }), {
        sees: 'sizes',
        says: ofEach,
      }),
      fail: write((keys) => keys.replicatedJobs().fail('me', ['1'], 'why'), { sees: 'sizes', says: ofEach }),
      release: write((keys) => keys.replicatedJobs().release('me', ['1']), { sees: 'sizes', says: ofEach }),
      completeAndTake: write(
        (keys) =>
          keys.replicatedJobs().completeAndTake('me', { completed: [{ id: '1', result: 1 }], take: 1 }),
        { sees: 'sizes', says: ({ finished }) => ofEach(finished) },
      ),
      take: write((keys) => keys.replicatedJobs().take('me'), { sees: 'sizes' }),
    },
  },
]
