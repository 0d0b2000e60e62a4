import type { Codec } from 'keyspec'

/** Where a run stands: `initialized`, `running` (it lists dockets), `processing` (it fetches them), and how it ended. */
export type RunStatus = 'initialized' | 'running' | 'processing' | 'completed' | 'failed'

/** What may follow what. */
const following: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  initialized: ['running', 'failed'],
  running: ['processing', 'failed'],
  processing: ['completed', 'failed'],
  completed: [],
  failed: [],
}

/** Whether a run may go from one status to another. */
export function mayFollow(from: RunStatus, to: RunStatus): boolean {
  return following[from].includes(to)
}

/** Whether a run has ended. */
export function hasEnded(status: RunStatus): boolean {
  return following[status].length === 0
}

/** One of the five statuses. */
export const runStatus: Codec<RunStatus> = {
  name: 'runStatus',
  bytes: false,
  encode: checked,
  decode: checked,
}

function checked(text: string): RunStatus {
  if (Object.hasOwn(following, text)) return text as RunStatus
  throw new TypeError(`${JSON.stringify(text.slice(0, 40))} is none of ${Object.keys(following).join(', ')}`)
}
