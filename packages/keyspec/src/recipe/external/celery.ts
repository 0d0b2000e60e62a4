import { SchemaError } from '../../errors.ts'
import type { External, ExternalKey, Kind, KeySpec, RedisType } from '../../kind/kind.ts'
import type { ParamCodec } from '../../param.ts'
import { type ExternalEntry, externalKeys, externalSpec } from './external.ts'

/** Which queues of Celery there are. */
export interface CeleryOptions {
  readonly queues: readonly string[]
  /** `global_keyprefix` in `broker_transport_options`, as it is there; none unless told. */
  readonly globalKeyPrefix?: string
  /** `priority_steps` in `broker_transport_options`; 0, 3, 6, 9 unless told, as there. */
  readonly prioritySteps?: readonly number[]
  /** `sep` in `broker_transport_options`, which stands between the name of a queue and a priority; kombu's own unless told. */
  readonly sep?: string
  /** Exchanges besides Celery's own and those that are called like a queue, as Celery calls them unless told. */
  readonly exchanges?: readonly string[]
}

// What kombu puts there.
const SEPARATOR = '\u0006\u0016'

// Remote control, and the events of workers (https://docs.celeryq.dev/en/stable/userguide/monitoring.html).
const OWN_EXCHANGES = ['celery.pidbox', 'celeryev']

/**
 * The keys of Celery's broker, which are kombu's: the queues and their priorities, the bindings, what was delivered and not
 * yet acknowledged, and the mailboxes for answers to a remote control, which stay where nobody fetched an answer.
 *
 * @example
 * tasks: celery({ globalKeyPrefix: 'broker:', queues: ['default', 'ocr'] })
 */
export function celery({
  queues,
  globalKeyPrefix = '',
  prioritySteps = [0, 3, 6, 9],
  sep = SEPARATOR,
  exchanges = [],
}: CeleryOptions): Kind<ExternalEntry> {
  const spec = (name: string, keys: RedisType | External['describe'], about: string) =>
    externalSpec(globalKeyPrefix + name, { by: 'Celery', keys, about })
  const ofQueue = (queue: string): KeySpec[] => {
    if (queue === '') throw new SchemaError('a Celery queue has a name')
    // The step 0 is the queue without a suffix.
    const steps = prioritySteps.filter((step) => step !== 0)
    return [
      spec(queue, 'list', `Messages of the queue ${queue}`),
      ...steps.map((step) =>
        spec(`${queue}${sep}${step}`, 'list', `Messages of the queue ${queue} from priority ${step}`),
      ),
    ]
  }
  return externalKeys([
    ...queues.flatMap(ofQueue),
    ...[...new Set([...queues, ...OWN_EXCHANGES, ...exchanges])].map((exchange) =>
      spec(`_kombu.binding.${exchange}`, 'set', `The queues bound to the exchange ${exchange}`),
    ),
    // One pattern for both, as nothing else tells the binding of this exchange from one of its queues.
    {
      ...spec(
        '<mailbox>.reply.celery.pidbox',
        ([mailbox]) => mailboxKey(mailbox),
        'Answers to a remote control',
      ),
      params: { mailbox: MAILBOX },
    },
    spec('unacked', 'hash', 'Messages delivered and not yet acknowledged'),
    spec('unacked_index', 'zset', 'The same by the time of delivery'),
    spec('unacked_mutex', 'string', 'Held by the worker that gives back what nobody acknowledged'),
  ])
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

// A mailbox is a UUID (kombu's oid), or a task's result could be called as one is: `celery-task-meta-<taskId>`.
const MAILBOX: ParamCodec<string> = {
  name: 'mailbox',
  encode(value) {
    if (!isMailbox(value)) throw new RangeError('it is no UUID')
    return value
  },
  decode: (text) => (isMailbox(text) ? text : undefined),
}

function isMailbox(text: string): boolean {
  return text === BINDING || UUID.test(text)
}

const BINDING = '_kombu.binding'

function mailboxKey(mailbox: string | undefined): ExternalKey {
  return mailbox === BINDING
    ? { type: 'set', about: 'the mailboxes that are bound' }
    : { type: 'list', about: 'answers that nobody fetched yet' }
}

/**
 * The keys of Celery's result backend: of each task its result, of each group its members and those of a chord.
 * `globalKeyPrefix` is `global_keyprefix` in `result_backend_transport_options`, after which Celery puts a `_` unless it
 * ends with one of `: _ - .`; with one, the names without it are known as the old ones.
 */
export function celeryResults({
  globalKeyPrefix = '',
}: { readonly globalKeyPrefix?: string } = {}): Kind<ExternalEntry> {
  const prefix =
    globalKeyPrefix === '' || /[:_.-]$/.test(globalKeyPrefix) ? globalKeyPrefix : `${globalKeyPrefix}_`
  const spec = (name: string, keys: Parameters<typeof externalSpec>[1]['keys'], about: string) =>
    externalSpec(prefix + name, { by: 'Celery', keys, about, renamedFrom: prefix === '' ? [] : [name] })
  const group = (texts: readonly string[]) => {
    const suffix = /\.[jts]$/.exec(texts[0]!)?.[0]
    if (suffix === '.j') return { type: 'zset', about: 'results of a chord, in their order' } as const
    return { type: 'string', about: suffix === undefined ? 'a group' : 'how far a chord is' } as const
  }
  return externalKeys([
    spec('celery-task-meta-<taskId>', 'string', 'The result of a task'),
    spec('celery-taskset-meta-<groupId>', group, 'A group of tasks, and what its chord has'),
    spec('chord-unlock-<groupId>', 'string', 'A chord that was unlocked'),
  ])
}
