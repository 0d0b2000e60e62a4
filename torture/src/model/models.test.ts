import { describe, expect, test } from 'vitest'
import type { Final, QueueState } from '../final.ts'
import type { Op } from '../history.ts'
import { PLANTS } from '../plant/plants.ts'
import { KNOWN_BROKEN } from './known-broken.ts'
import type { Loss } from './losses.ts'
import { models } from './models.ts'
import { operation } from './operation.ts'

const EMPTY: QueueState = {
  waiting: [],
  inProgress: {},
  done: {},
  failed: {},
  holders: [],
  deadlines: [],
  counters: {},
}
const stateOf = (given: Partial<Omit<Final, 'queue'>> & { queue?: Partial<QueueState> }): Final => ({
  numbers: {},
  items: [],
  events: [],
  quotas: {},
  ...given,
  queue: { ...EMPTY, ...given.queue },
})
const red = (n: string) => ({ n, kind: 'red' })

interface Trial {
  /** A history, or a state, that breaks the invariant. */
  readonly wrong: readonly Op[]
  readonly final?: Final
  /** One that is close to it, and right. */
  readonly right: readonly Op[]
  readonly finalRight?: Final
}

const takes = (count: number, from: string, apart: number) =>
  Array.from({ length: count }, (_, index) =>
    operation('sliding', 'take', [index * apart, index * apart + 1], { ok: { allowed: true, from } }),
  )
const acquire = (token: string, at: number, until: number, fence = at) =>
  operation('lock', 'acquire', [at, at + 1], { ok: { ours: true, token, fence, until } })
const release = (token: string, at: number, ok: boolean) =>
  operation('lock', 'release', [at, at + 1], { ok }, { asked: token })
const read = (value: string, at: number) => operation('page', 'read', [at, at + 1], { ok: value })
const load = (value: string, from: number, to: number) => operation('page', 'load', [from, to], { ok: value })
const gone = (from: number, to: number) => operation('page', 'delete', [from, to], { ok: true })
const members = (size: number, ...generations: string[]) =>
  operation('swap', 'members', [5, 6], { ok: { size, generations } })
const advanced = (value: number, at: number) => operation('mark', 'advance', [at, at + 1], { ok: value })
const issued = (first: number, last: number, at: number) =>
  operation('ids', 'nextMany', [at, at + 1], { ok: { first, last } })
const updated = (value: number, at: number) => operation('balance', 'update', [at, at + 1], { ok: value })
const added = (n: string, at: number) => operation('queue', 'add', [at, at + 1], { ok: {} }, { asked: n })
const completed = (id: string, at: number) =>
  operation('queue', 'complete', [at, at + 1], { ok: 'completed' }, { asked: id })
const hit = (at: number, outcome: Op['outcome'] = { ok: at }) =>
  operation('hits', 'increment', [at, at + 1], outcome)

const quotaTake = (used: number, at: number) =>
  operation('quota', 'take', [at, at + 1], {
    ok: { allowed: true, used, window: '2024-09-17T14:00:00.000Z' },
  })
const nearSet = (value: string, at: number) =>
  operation('near', 'set', [at, at + 1], { ok: true }, { asked: value })
const nearGet = (value: string, at: number) => operation('near', 'get', [at, at + 1], { ok: value })

const trials: Readonly<Record<string, Trial>> = {
  'limiter-window': { wrong: takes(21, 'redis', 10), right: takes(21, 'redis', 110) },
  'limiter-share': { wrong: takes(6, 'unreachable', 10), right: takes(6, 'unreachable', 500) },
  'quota-exact': {
    wrong: [quotaTake(1, 0), quotaTake(1, 5)],
    right: [quotaTake(1, 0), quotaTake(2, 5)],
    finalRight: stateOf({ quotas: { '{a}:2024-09-17_14': { count: 2, mirror: 2 } } }),
  },
  'lock-exclusion': {
    wrong: [acquire('x', 0, 1500), acquire('y', 700, 2200)],
    right: [acquire('x', 0, 1500), release('x', 600, true), acquire('y', 700, 2200)],
  },
  'lock-late': {
    wrong: [acquire('x', 0, 1500), acquire('y', 1600, 3000), release('x', 1700, true)],
    right: [acquire('x', 0, 1500), acquire('y', 1600, 3000), release('x', 1700, false)],
  },
  'lock-fence': {
    wrong: [acquire('x', 0, 10, 7), acquire('y', 20, 30, 7)],
    right: [acquire('x', 0, 10, 7), acquire('y', 20, 30, 8)],
  },
  'queue-once': {
    wrong: [added('n1', 0)],
    final: stateOf({ queue: { waiting: [red('n1')], done: { 1: red('n1') } } }),
    right: [added('n1', 0), completed('1', 5)],
    finalRight: stateOf({ queue: { done: { 1: red('n1') } } }),
  },
  'queue-stuck': {
    wrong: [],
    final: stateOf({ queue: { inProgress: { 1: red('n1') } } }),
    right: [],
    finalRight: stateOf({ queue: { waiting: [red('n1')] } }),
  },
  'queue-counters': {
    wrong: [],
    final: stateOf({ queue: { waiting: [red('n1')], counters: { 'waiting:red': 2 } } }),
    right: [],
    finalRight: stateOf({ queue: { waiting: [red('n1')], counters: { 'waiting:red': 1 } } }),
  },
  'cache-deleted': {
    wrong: [load('v', 0, 5), gone(10, 11), read('v', 20)],
    right: [load('v', 0, 5), read('v', 10.5), gone(10, 11), load('w', 15, 16), read('w', 20)],
  },
  'cache-overtaken': {
    wrong: [operation('page', 'read', [0, 21], { ok: 'v' }), load('v', 0, 15), gone(10, 11), read('v', 20)],
    right: [gone(10, 11), load('v', 10.5, 15), read('v', 20)],
  },
  'near-late': {
    wrong: [nearSet('v', 0), nearSet('w', 10), nearGet('v', 4000)],
    right: [nearSet('v', 0), nearSet('w', 1000), nearGet('v', 4000)],
  },
  'swap-whole': { wrong: [members(12, 'g1', 'g2')], right: [members(12, 'g1')] },
  'watermark-back': {
    wrong: [advanced(8, 0), advanced(7, 5)],
    right: [advanced(8, 0), advanced(9, 0.5), advanced(9, 5)],
  },
  'sequence-repeat': { wrong: [issued(1, 3, 0), issued(3, 4, 5)], right: [issued(1, 3, 0), issued(4, 4, 5)] },
  'update-lost': {
    wrong: [updated(1, 0), updated(1, 5)],
    right: [updated(1, 0), updated(2, 5)],
    finalRight: stateOf({ numbers: { 'balance:a': 2 } }),
  },
  'applied-once': {
    wrong: [hit(0), hit(5)],
    final: stateOf({ numbers: { 'hits:a': 3 } }),
    right: [hit(0), hit(5), hit(9, { lost: 'Error' })],
    finalRight: stateOf({ numbers: { 'hits:a': 3 } }),
  },
  'move-whole': {
    wrong: [operation('move', 'migrate', [0, 9], { ok: { keys: 3, missing: 1, lifetimes: 0 } })],
    right: [operation('move', 'migrate', [0, 9], { ok: { keys: 3, missing: 0, lifetimes: 0 } })],
  },
  settles: { wrong: [hit(0, { lost: 'HUNG' })], right: [hit(0, { lost: 'Error' })] },
}

function judge(invariant: string, ops: readonly Op[], final?: Final, losses: readonly Loss[] = []) {
  const model = models.find((model) => model.invariant === invariant)!
  return model.judge({ ops, losses, ...(final === undefined ? {} : { final }) })
}

test('every invariant has a planted bug and a history that breaks it', () => {
  const invariants = models.map(({ invariant }) => invariant)
  expect(Object.keys(trials)).toEqual(invariants)
  expect(PLANTS).toEqual([...invariants, 'flat'])
  expect(invariants).toEqual(expect.arrayContaining(KNOWN_BROKEN.map((name) => name.split(':').at(-1))))
})

test.each(Object.entries(trials))('%s: reports what breaks it, and nothing else', (invariant, trial) => {
  expect(judge(invariant, trial.wrong, trial.final)).not.toEqual([])
  expect(judge(invariant, trial.right, trial.finalRight)).toEqual([])
})

test('a read that joins one that a delete overtook is told from others by its process', () => {
  const under = operation('page', 'read', [0, 15], { ok: 'v' })
  const rest = [load('v', 0, 5), gone(10, 11), read('v', 12)]
  expect(judge('cache-overtaken', [under, ...rest])).toHaveLength(1)
  expect(judge('cache-deleted', [under, ...rest])).toEqual([])
  for (const other of [
    { ...under, process: 'p2' },
    { ...under, end: 7 },
  ]) {
    expect(judge('cache-overtaken', [other, ...rest])).toEqual([])
    expect(judge('cache-deleted', [other, ...rest])).toHaveLength(1)
  }
})

describe('applied-once', () => {
  const push = (element: string, at: number) =>
    operation('items', 'pushBack', [at, at + 1], { ok: 1 }, { asked: element })
  const pop = (ok: string | null, at: number) => operation('items', 'popFront', [at, at + 1], { ok })
  const claim = (ok: boolean, at: number) =>
    operation('claims', 'claim', [at, at + 1], { ok }, { asked: 'c' })

  test('reports an element that is popped twice, stands twice, or is lost by no lost pop', () => {
    expect(judge('applied-once', [push('x', 0), pop('x', 5), pop('x', 9)])).toHaveLength(1)
    expect(judge('applied-once', [push('x', 0)], stateOf({ items: ['x', 'x'] }))).toHaveLength(1)
    expect(judge('applied-once', [push('x', 0)], stateOf({}))).toHaveLength(1)
    const lost = operation('items', 'popFront', [5, 6], { lost: 'Error' })
    expect(judge('applied-once', [push('x', 0), lost], stateOf({}))).toEqual([])
  })

  test('reports a value that two claimed, or nobody', () => {
    expect(judge('applied-once', [claim(true, 0), claim(true, 5)])).toHaveLength(1)
    expect(judge('applied-once', [claim(false, 0), claim(false, 5)])).toHaveLength(1)
    expect(judge('applied-once', [claim(true, 0), claim(false, 5)])).toEqual([])
  })
})

test('limiter-share: reports a process whose share and admissions by Redis exceed the limit together', () => {
  const mixed = (apart: number) => [
    ...takes(18, 'redis', apart),
    ...takes(3, 'unreachable', 150).map((op) => ({
      ...op,
      start: op.start + 18 * apart,
      end: op.end + 18 * apart,
    })),
  ]
  expect(judge('limiter-share', mixed(10))).toHaveLength(1)
  expect(judge('limiter-share', mixed(150))).toEqual([])
})

describe('losses', () => {
  test('a failover excuses what was acknowledged while it lasted, and nothing before it', () => {
    const ops = [issued(1, 1, 0), issued(1, 1, 100)]
    const failover = (from: number): Loss => ({ cause: 'crash-failover', from, to: 50 })
    expect(judge('sequence-repeat', ops, undefined, [failover(0.5)])).toEqual([])
    expect(judge('sequence-repeat', ops, undefined, [failover(2)])).toHaveLength(1)
  })

  test('a clock that goes forward ends leases and windows, and excuses nothing else', () => {
    const forward: Loss[] = [{ cause: 'clock-forward', from: 650, to: 651 }]
    const { wrong } = trials['lock-exclusion']!
    expect(judge('lock-exclusion', wrong, undefined, forward)).toEqual([])
    expect(judge('limiter-window', takes(30, 'redis', 40), undefined, forward)).toEqual([])
    expect(judge('limiter-window', takes(80, 'redis', 20), undefined, forward)).toHaveLength(1)
    expect(judge('watermark-back', trials['watermark-back']!.wrong, undefined, forward)).toHaveLength(1)
  })
})
