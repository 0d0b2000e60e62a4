import {
  type FieldInputs,
  fields,
  type FieldValues,
  hash,
  integer,
  json,
  type Keyspace,
  list,
  param,
  set,
  string,
  text,
} from 'keyspec'
import { quota } from 'keyspec/recipes'
import { pythonDict, pythonInstant, pythonList } from './python-codec.ts'
import { defaults, type Settings } from './settings.ts'
import { failure, FailureReason } from './state/failure.ts'
import { runStatus } from './state/run-status.ts'

const runFields = {
  dag_run_id: text,
  start_time: pythonInstant,
  current_hour: text,
  api_calls_this_hour: integer,
  status: runStatus,
  dockets_processed: pythonList,
  redis_keys: pythonDict,
  last_updated: pythonInstant,
}

/** The state of a run: the fields that are there. */
export type RunFields = FieldValues<typeof runFields>

/** What may be written of the state of a run. */
export type RunInputs = FieldInputs<typeof runFields>

/** Every key of the system. The first five are those of the document; the others serve it, and are told of in the README. */
export function courtlistenerSchema(settings: Settings = defaults) {
  const { callLimitPerHour, safetyBuffer, workers, refusesWithoutRedis } = settings
  const limit = callLimitPerHour - safetyBuffer
  const counterTtl = `${settings.counterTtlHours}h` as const
  const state = { ttl: `${settings.stateTtlHours}h` } as const
  const ofHour = { ttl: counterTtl, params: { hour: param.hour } } as const

  return {
    calls: quota('courtlistener:rate_limit:<hour>', {
      ...ofHour,
      limit,
      mirror: ['courtlistener:counter:<hour>'],
      // A share that would admit nothing is a refusal.
      unreachable: refusesWithoutRedis || limit < workers ? 'refuse' : { share: 1 / workers },
      about: 'Calls of this hour, by the server’s clock: never more than the limit less the safety buffer',
    }),
    run: hash('courtlistener:pipeline:<dagRunId*>', runFields, { ...state, about: 'How a run stands' }),
    taskStart: string('courtlistener:task_start:<dagRunId*>:<taskId>', pythonInstant, {
      ...state,
      about: 'When a task of a run began',
    }),
    failed: list('courtlistener:failed:<hour>', failure, {
      ...ofHour,
      about: 'Dockets that could not be fetched, the newest first',
    }),

    failedReasons: hash('courtlistener:failed_reason:<hour>', fields(json(FailureReason)), {
      ...ofHour,
      about: 'Why and when each docket of that list failed',
    }),
    retried: set('courtlistener:retried:<hour>', text, {
      ...ofHour,
      about: 'The failures that a worker has taken for a retry, as `<run> <docket id>`',
    }),
    finished: set('courtlistener:finished:<dagRunId*>', text, {
      ...state,
      about: 'The dockets that a run has stored; `dockets_processed` follows it',
    }),
    taskDurations: hash('courtlistener:task_duration:<dagRunId*>', fields(integer), {
      ...state,
      about: 'How many ms each task of a run took',
    }),
  }
}

/** The keyspace of the system. */
export type Courtlistener = Keyspace<ReturnType<typeof courtlistenerSchema>>
