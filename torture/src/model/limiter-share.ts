import { type Op, valueOf } from '../history.ts'
import { DECLARED } from '../schema.ts'
import { crowdIn, type Take } from './limiter-window.ts'
import { lossesOf } from './losses.ts'
import { byKey, type Evidence, type Model, type Violation } from './model.ts'

/**
 * A process admits no more than its declared share in any window while Redis does not answer, and no more than the limit
 * together with what Redis admitted to it.
 */
export const limiterShare: Model = {
  invariant: 'limiter-share',
  judge: (evidence) => [
    ...shares(evidence),
    ...sums(evidence, ['sliding', 'compact'], DECLARED.limit),
    // A fixed window admits twice its limit around its end.
    ...sums(evidence, ['fixed'], 2 * DECLARED.limit),
  ],
}

function shares(evidence: Evidence): Violation[] {
  const share = Math.floor(DECLARED.limit * DECLARED.share)
  return admissions(evidence, ['sliding', 'compact', 'fixed'], ({ from }) => from === 'unreachable').flatMap(
    ({ key, process, ops }) => {
      const crowd = crowdIn(ops, share)
      if (crowd === undefined) return []
      return [{ what: `${process} admitted ${crowd.length} to ${key}, its share is ${share}`, ops: crowd }]
    },
  )
}

function sums(evidence: Evidence, recipes: string[], limit: number): Violation[] {
  const cuts = lossesOf(evidence.losses, 'leases')
  const apart = (a: Op, b: Op) => cuts.some(({ from, to }) => a.start <= to && from <= b.end)
  return admissions(evidence, recipes, () => true).flatMap(({ key, process, ops }) => {
    const crowd = crowdIn(ops, limit, apart)
    if (crowd === undefined) return []
    const what = `${process} admitted ${crowd.length} of ${limit} to ${key}, its share and those of Redis`
    return [{ what, ops: crowd }]
  })
}

interface Admissions {
  readonly key: string
  readonly process: string
  readonly ops: readonly Op[]
}

/** Returns the admissions of one kind, by key and process. */
function admissions(
  evidence: Evidence,
  recipes: readonly string[],
  counts: (take: Take) => boolean,
): Admissions[] {
  return Array.from(byKey(evidence, ...recipes), ([key, ops]) => {
    const byProcess = new Map<string, Op[]>()
    for (const op of ops) {
      const take = valueOf<Take>(op)
      if (take?.allowed !== true || !counts(take)) continue
      const own = byProcess.get(op.process)
      if (own === undefined) byProcess.set(op.process, [op])
      else own.push(op)
    }
    return Array.from(byProcess, ([process, ops]) => ({ key, process, ops }))
  }).flat()
}
