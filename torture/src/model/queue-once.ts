import { isLost, type Op, succeeded, valueOf } from '../history.ts'
import type { QueueState } from '../final.ts'
import { lossesOf } from './losses.ts'
import { byKey, type Evidence, type Model, type Violation } from './model.ts'

/** Every job ends exactly once as done, failed or waiting. */
export const queueOnce: Model = {
  invariant: 'queue-once',
  judge: (evidence) => [...byKey(evidence, 'queue').values()].flatMap((ops) => judge(ops, evidence)),
}

function judge(ops: readonly Op[], evidence: Evidence): Violation[] {
  const found: Violation[] = []
  const ends = new Map<string, Op>()
  for (const op of ops) {
    if (!['complete', 'fail'].includes(op.verb) || !isFinished(op)) continue
    const id = op.asked as string
    const earlier = ends.get(id)
    if (earlier !== undefined) found.push({ what: `job ${id} ended twice`, ops: [earlier, op] })
    ends.set(id, op)
  }
  const { final } = evidence
  if (final === undefined) return found
  const adds = new Map<string, Op[]>()
  for (const op of ops) {
    if (op.verb !== 'add') continue
    const n = op.asked as string
    adds.set(n, [...(adds.get(n) ?? []), op])
  }
  const tokensForgotten = lossesOf(evidence.losses, 'tokens').length > 0
  const places = placesOf(final.queue)
  for (const [n, asked] of adds) {
    const stands = places.get(n) ?? []
    if (stands.length === 0 && asked.some(succeeded)) found.push({ what: `job ${n} is gone`, ops: asked })
    if (stands.length > 1 && !(tokensForgotten && asked.length > 1))
      found.push({ what: `job ${n} stands ${stands.length} times: ${stands.join(', ')}`, ops: asked })
    if (stands.length > 0 && asked.every(({ outcome }) => 'no' in outcome))
      found.push({ what: `job ${n} was refused and stands as ${stands.join(', ')}`, ops: asked })
  }
  for (const [id, op] of ends) {
    const ended = op.verb === 'complete' ? final.queue.done : final.queue.failed
    if (!(id in ended)) found.push({ what: `job ${id} ended and is not where ended jobs are`, ops: [op] })
  }
  return found
}

function isFinished(op: Op): boolean {
  return !isLost(op) && ['completed', 'failed'].includes(valueOf<string>(op) ?? '')
}

/** Returns the places of each job, by its `n`. */
function placesOf({ waiting, inProgress, done, failed }: QueueState): Map<string, string[]> {
  const places = new Map<string, string[]>()
  const stand = (n: string, place: string) => places.set(n, [...(places.get(n) ?? []), place])
  for (const { n } of waiting) stand(n, 'waiting')
  for (const { n } of Object.values(inProgress)) stand(n, 'in progress')
  for (const { n } of Object.values(done)) stand(n, 'done')
  for (const { n } of Object.values(failed)) stand(n, 'failed')
  return places
}
