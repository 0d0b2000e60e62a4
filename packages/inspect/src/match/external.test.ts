import { string, text, validate } from 'keyspec'
import { bullmq, celery, celeryResults, external } from 'keyspec/recipes'
import { expect, test } from 'vitest'
import { expectedType } from './expected-type.ts'
import { matcher } from './matcher.ts'
import { bullmqKey } from '../../../keyspec/src/recipe/external/bullmq.ts'

const schema = {
  broker: bullmq({ prefix: 'broker', queues: ['ocr', 'ocr2', 'text'] }),
  tasks: celery({ globalKeyPrefix: 'broker:', queues: ['ocr', 'text'], exchanges: ['media'] }),
  results: celeryResults({ globalKeyPrefix: 'results:' }),
  other: external('queue:<name>', { by: 'Sidekiq', keys: 'list', about: 'Jobs that wait' }),
}

test('queues of two programs under one prefix, and names that begin alike, are disjoint', () => {
  expect(() => validate(schema)).not.toThrow()
  expect(() => validate({ ...schema, ours: string('broker:ocr:<id>', text, { ttl: '1h' }) })).toThrow(
    'broker',
  )
  expect(() => validate({ twice: bullmq({ queues: ['a', 'a'] }) })).toThrow('could both own')
  expect(() => bullmq({ queues: ['a:b'] })).toThrow('no name of a BullMQ queue')
})

test.each([
  ['broker:ocr:wait', 'list'],
  ['broker:ocr:marker', 'zset'],
  ['broker:ocr:events', 'stream'],
  ['broker:ocr2:stalled', 'set'],
  ['broker:ocr:17', 'hash'],
  ['broker:ocr:17:lock', 'string'],
  ['broker:ocr:17:logs', 'list'],
  ['broker:ocr:17:dependencies', 'set'],
  ['broker:ocr:17:processed', 'hash'],
  ['broker:ocr:repeat', 'zset'],
  ['broker:ocr:repeat:nightly', 'hash'],
  ['broker:ocr:repeat:at:lock', 'hash'],
  ['broker:ocr:repeat:nightly:1700000000000', 'hash'],
  ['broker:ocr:repeat:nightly:1700000000000:lock', 'string'],
  ['broker:ocr:metrics:completed:data', 'list'],
  ['broker:ocr:de:some:id', 'string'],
  ['broker:ocr', 'list'],
  ['broker:ocr\u0006\u00163', 'list'],
  ['broker:_kombu.binding.ocr', 'set'],
  ['broker:_kombu.binding.media', 'set'],
  ['broker:_kombu.binding.celery.pidbox', 'set'],
  ['broker:_kombu.binding.celeryev', 'set'],
  ['broker:_kombu.binding.reply.celery.pidbox', 'set'],
  ['broker:0b5d1ca2-9d5c-3f0a-8a5e-6f1c2d3e4f50.reply.celery.pidbox', 'list'],
  ['broker:unacked', 'hash'],
  ['broker:unacked_index', 'zset'],
  ['broker:unacked_mutex', 'string'],
  ['results:celery-task-meta-1b4e28ba', 'string'],
  ['celery-task-meta-1b4e28ba', 'string'],
  ['results:celery-taskset-meta-7.j', 'zset'],
  ['results:celery-taskset-meta-7.t', 'string'],
  ['results:celery-taskset-meta-7.s', 'string'],
  ['results:chord-unlock-7', 'string'],
  ['queue:mail', 'list'],
])('%s is a %s', (key, type) => {
  const owned = matcher(schema).match(key)
  expect(owned && expectedType(owned, key)).toBe(type)
})

test.each(['broker:ocr:17:unheard-of', 'broker:ocr:metrics:delayed', 'broker:ocr:17:', 'broker:ocr:a:b:c'])(
  '%s is nothing that BullMQ is known to keep',
  (key) => {
    const owned = matcher(schema).match(key)!
    expect(owned.entry).toBe('broker')
    expect(expectedType(owned, key)).toBeUndefined()
  },
)

test('Celery’s broker, its results and BullMQ stand in one schema, under one prefix or none', () => {
  for (const globalKeyPrefix of ['', 'broker:', 'broker_']) {
    const one = {
      tasks: celery({ queues: ['default', 'celery'], globalKeyPrefix }),
      results: celeryResults({ globalKeyPrefix }),
      jobs: bullmq({ queues: ['default'], prefix: 'broker' }),
    }
    expect(() => validate(one)).not.toThrow()
    const owner = (key: string) => matcher(one).match(globalKeyPrefix + key)?.entry
    expect(owner('0b5d1ca2-9d5c-3f0a-8a5e-6f1c2d3e4f50.reply.celery.pidbox')).toBe('tasks')
    expect(owner('_kombu.binding.reply.celery.pidbox')).toBe('tasks')
    expect(owner('celery-task-meta-x.reply.celery.pidbox')).toBe('results')
    expect(owner('mine.reply.celery.pidbox')).toBeUndefined()
  }
  const separated = { tasks: celery({ queues: ['ocr'], sep: '#', prioritySteps: [0, 5] }) }
  expect(matcher(separated).match('ocr#5')?.entry).toBe('tasks')
  expect(matcher(separated).match('ocr\u0006\u00165')).toBeUndefined()
  const ours = string('<id>.reply.celery.pidbox', text, { ttl: '1h' })
  expect(() => validate({ tasks: celery({ queues: ['default'] }), ours })).toThrow('could both own')
})

test('an open entry tells what stands at a key, prefix and old names included', () => {
  const opened = schema.results.open({ name: 'results', prefix: 'prod:', connection: undefined as never })
  expect(opened.describe('prod:results:celery-task-meta-1')?.about).toBe('The result of a task')
  expect(opened.describe('prod:celery-task-meta-1')?.type).toBe('string')
  expect(opened.describe('results:celery-task-meta-1')).toBeUndefined()
})

test('a prefix of Celery’s results ends as Celery ends it', () => {
  const of = (globalKeyPrefix: string) => celeryResults({ globalKeyPrefix }).keys[0]!.pattern.text
  expect(of('')).toBe('celery-task-meta-<taskId>')
  expect(of('results:')).toBe('results:celery-task-meta-<taskId>')
  expect(of('results')).toBe('results_celery-task-meta-<taskId>')
})

test('what stands at a key of BullMQ is said in words, and its prefix is `bull` unless told', () => {
  const about = (rest: string) => {
    const found = bullmqKey(rest)
    return found && `${found.type}: ${found.about}`
  }
  expect(about('metrics:completed')).toBe('hash: how many jobs have completed a minute, its state')
  expect(about('metrics:failed')).toBe('hash: how many jobs have failed a minute, its state')
  expect(about('metrics:failed:data')).toBe('list: how many jobs have failed a minute')
  for (const rest of ['metrics:failed:data:more', 'metrics:failed:other', 'metrics:delayed', 'metrics'])
    expect(about(rest) ?? 'none', rest).toBe(rest === 'metrics' ? about('17') : 'none')
  expect(about('de:some:id')).toBe('string: the job that a deduplication id stands for')
  expect(about('dn:some:id')).toBe('hash: the job that a deduplication id lets follow')
  expect(about('repeat:nightly')).toBe('hash: a job scheduler')
  expect(bullmq({ queues: ['mail'] }).keys[0]!.pattern.text).toBe('bull:mail:<rest*>')
})

test('no word that BullMQ keeps for a queue is taken for a job', () => {
  expect(bullmqKey('wait')?.about).toBe('waiting jobs')
  expect(bullmqKey('waiting')?.about).toBe('a job')
})
