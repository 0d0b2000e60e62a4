import type { AddResult } from './outcome.ts'
import { acknowledged, encodeJob, type OneQueue } from './queue-home.ts'
import * as scripts from './scripts.ts'
import { ArgumentTypeError } from '../../errors.ts'

/** How many jobs one step takes. The steps of a token are counted by it: another number would break known tokens. */
const ADD_STEP = 5000

/** What makes a repeated `add` safe: a token for all jobs, or a name for each. */
export interface AddOptions<N> {
  readonly token?: string
  readonly unique?: (job: N) => string
}

/** Puts jobs at the end of a queue; see `WorkQueue.add`. */
export async function addJobs<N>(
  queue: OneQueue<any, any>,
  jobs: readonly N[],
  { token, unique }: AddOptions<N>,
): Promise<AddResult> {
  const { home, names: keys } = queue
  if (token !== undefined && unique !== undefined)
    throw new ArgumentTypeError('add takes a token or unique names: either alone makes a repeated call safe')
  if (token === '') throw new ArgumentTypeError('the token of an add is empty')
  const encoded = jobs.map((job) => encodeJob(queue, job))
  const names = unique === undefined ? undefined : jobs.map(unique)
  if (names?.includes('') === true) throw new ArgumentTypeError('the unique name of a job is empty')
  const ids: string[] = []
  const replicas: number[] = []
  let added = 0
  for (let from = 0; from < jobs.length; from += ADD_STEP) {
    const step = encoded.slice(from, from + ADD_STEP)
    const given = {
      ...home.job,
      now: home.now?.(),
      numbered: home.numbered,
      head: home.stored.head,
      dedupeWindow: home.dedupeWindow,
      token: token ?? '',
      step: from / ADD_STEP,
      items: step.flatMap(({ text }, index) => [names?.[from + index] ?? '', text]),
    }
    const { value: answer, acknowledged: count } = await acknowledged(
      home,
      (over) => scripts.add.run(over, keys, given),
      (answer) => answer.added > 0,
    )
    added += answer.added
    if (count !== undefined && answer.added > 0) replicas.push(count)
    for (let index = 0; index < step.length; index += 1) ids.push(idAt(answer.ids, index, step[index]!.id))
  }
  if (home.replication === undefined) return { ids, added }
  return { ids, added, replicas: added === 0 ? 0 : Math.min(...replicas) }
}

/** One id stands for a run of them. */
function idAt(ids: readonly string[], index: number, own: string | undefined): string {
  if (own !== undefined) return own
  return ids.length === 1 ? String(BigInt(ids[0]!) + BigInt(index)) : ids[index]!
}
