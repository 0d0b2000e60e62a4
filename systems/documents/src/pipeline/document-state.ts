import * as v from 'valibot'

/** The stages of a document, in their order. */
export const stages = [
  'ocr',
  'chunking',
  'entity_extraction',
  'entity_resolution',
  'mention_resolution',
] as const

/** One of the stages. */
export type Stage = (typeof stages)[number]

const moment = v.pipe(v.string(), v.isoTimestamp())

/** How far one stage of a document is. */
const StageState = v.strictObject({
  status: v.picklist(['pending', 'running', 'completed', 'failed']),
  started_at: v.nullable(moment),
  finished_at: v.nullable(moment),
  attempts: v.pipe(v.number(), v.integer(), v.minValue(0)),
  error: v.nullable(v.string()),
})

/** How far a document is: the value of `cache:doc:state:<documentUuid>`. */
export const DocumentState = v.strictObject({
  document_uuid: v.string(),
  name: v.string(),
  batch_id: v.nullable(v.string()),
  /** `incomplete`: all stages ran, but pages still need OCR. */
  status: v.picklist(['pending', 'running', 'completed', 'incomplete', 'failed']),
  pages_needing_ocr: v.array(v.pipe(v.number(), v.integer(), v.minValue(1))),
  updated_at: moment,
  stages: v.strictObject({
    ocr: StageState,
    chunking: StageState,
    entity_extraction: StageState,
    entity_resolution: StageState,
    mention_resolution: StageState,
  }),
})

/** How far a document is. */
export type DocumentState = v.InferOutput<typeof DocumentState>

/** A document that no stage has touched. */
export function newState(
  document: Pick<DocumentState, 'document_uuid' | 'name' | 'batch_id'>,
  at: Date,
): DocumentState {
  const pending = { status: 'pending', started_at: null, finished_at: null, attempts: 0, error: null }
  return v.parse(DocumentState, {
    ...document,
    status: 'pending',
    pages_needing_ocr: [],
    updated_at: at.toISOString(),
    stages: Object.fromEntries(stages.map((stage) => [stage, pending])),
  })
}

/** What happens to a stage. */
export type StageEvent =
  | { readonly type: 'started' }
  | { readonly type: 'completed'; readonly pages_needing_ocr?: readonly number[] }
  | { readonly type: 'failed'; readonly error: string }

/** The state after a stage started, completed or failed. */
export function advanced(state: DocumentState, stage: Stage, event: StageEvent, at: Date): DocumentState {
  const now = at.toISOString()
  const before = state.stages[stage]
  const after: DocumentState['stages'][Stage] =
    event.type === 'started'
      ? { status: 'running', started_at: now, finished_at: null, attempts: before.attempts + 1, error: null }
      : {
          ...before,
          status: event.type,
          finished_at: now,
          error: event.type === 'failed' ? event.error : null,
        }
  const all = { ...state.stages, [stage]: after }
  const needing = event.type === 'completed' ? event.pages_needing_ocr : undefined
  const pages_needing_ocr = needing === undefined ? state.pages_needing_ocr : [...needing]
  const status = statusOf(all, pages_needing_ocr)
  return v.parse(DocumentState, { ...state, stages: all, pages_needing_ocr, status, updated_at: now })
}

function statusOf(all: DocumentState['stages'], needingOcr: readonly number[]): DocumentState['status'] {
  const statuses = Object.values(all).map(({ status }) => status)
  if (statuses.includes('failed')) return 'failed'
  if (statuses.every((status) => status === 'completed'))
    return needingOcr.length > 0 ? 'incomplete' : 'completed'
  return statuses.every((status) => status === 'pending') ? 'pending' : 'running'
}
