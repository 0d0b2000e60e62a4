import { counter, hash, integer, json, list, param, stream, string, text } from 'keyspec'
import {
  cache,
  dedupe,
  fixedWindow,
  lock,
  quota,
  sequence,
  slidingWindow,
  swapSet,
  watermark,
  workQueue,
} from 'keyspec/recipes'
import * as v from 'valibot'

const forever = { ttl: 'forever', reason: 'it lives as long as the run' } as const
const window = { per: '2s', limit: 20, unreachable: { share: 0.25 } } as const

/** The declarations as the models know them. */
export const DECLARED = {
  perMs: 2000,
  limit: 20,
  /** In an hour: so few that a run of half a minute uses them up. */
  quota: 300,
  share: 0.25,
  lockTtlMs: 1500,
  leaseMs: 1500,
  attempts: 3,
  kinds: ['red', 'blue'],
  members: 12,
} as const

/** A job of the queue: `n` is unique over the whole run. */
const job = json(v.object({ id: v.number(), n: v.string(), kind: v.string() }))

/** Every recipe and the kinds that change by what they are, as the actors use them. */
export const schema = {
  sliding: slidingWindow('sliding:<id>', window),
  compact: slidingWindow('compact:<id>', { ...window, form: 'compact' }),
  fixed: fixedWindow('fixed:<id>', window),
  // A ttl that a stopped process outlives, so that late holders are common.
  lock: lock('lock:{<id>}', { ttl: '1500ms', fence: 'fence:{<id>}' }),
  queue: workQueue('{queue}', job, {
    lease: '1500ms',
    attempts: DECLARED.attempts,
    keepCompleted: 1_000_000,
    id: 'id',
    counters: {
      by: 'kind',
      waiting: { red: '{queue}:n:waiting:red', blue: '{queue}:n:waiting:blue' },
      done: { red: '{queue}:n:done:red', blue: '{queue}:n:done:blue' },
      failed: { red: '{queue}:n:failed:red', blue: '{queue}:n:failed:blue' },
    },
  }),
  page: cache('page:<id>', text, { ttl: '1h', lock: 'page-lock:{page:<id>}', lockTtl: '1s' }),
  swap: swapSet('{swap}:now', text, { ...forever, staging: '{swap}:next' }),
  mark: watermark('mark', integer, forever),
  ids: sequence('ids', forever),
  balance: string('balance:<id>', integer, forever),
  hits: counter('hits:<id>', forever),
  items: list('items', text, forever),
  claims: dedupe('claims', text, forever),
  tally: hash('tally:<id>', { count: integer }, forever),
  events: stream('events', { event: text }, forever),
  quota: quota('quota:{<id>}:<hour>', {
    limit: DECLARED.quota,
    mirror: ['quota-mirror:{<id>}:<hour>'],
    ttl: '2h',
    params: { hour: param.hour },
  }),
  near: cache('near:{<id>}', text, { ttl: '1h', near: { most: 100 } }),
}

/** The schema of a run in which limiters are planted: they admit more than the models know of. */
export const generousSchema = {
  ...schema,
  sliding: slidingWindow('sliding:<id>', { ...window, limit: 60 }),
  fixed: fixedWindow('fixed:<id>', { ...window, unreachable: { share: 1 } }),
}
