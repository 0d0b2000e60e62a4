import { type Op, valueOf } from '../history.ts'
import { DECLARED } from '../schema.ts'
import { lossesOf } from './losses.ts'
import { byKey, type Evidence, type Model, type Violation } from './model.ts'

/** The part of a take that an actor records. */
export interface Take {
  readonly allowed: boolean
  readonly from: string
}

/** A limiter admits no more than its limit in any window while Redis answers; a fixed window twice that around its end. */
export const limiterWindow: Model = {
  invariant: 'limiter-window',
  judge: (evidence) => [
    ...crowded(evidence, ['sliding', 'compact'], DECLARED.limit),
    ...crowded(evidence, ['fixed'], 2 * DECLARED.limit),
  ],
}

function crowded(evidence: Evidence, recipes: string[], limit: number): Violation[] {
  const cuts = lossesOf(evidence.losses, 'leases')
  return Array.from(byKey(evidence, ...recipes), ([key, ops]) => {
    const admitted = ops.filter((op) => {
      const take = valueOf<Take>(op)
      return take?.allowed === true && take.from === 'redis' && !cuts.some((cut) => touches(op, cut))
    })
    const apart = (a: Op, b: Op) => cuts.some(({ from }) => a.end < from && from < b.start)
    const crowd = crowdIn(admitted, limit, apart)
    return crowd === undefined ? [] : [{ what: `${key} admitted ${crowd.length} of ${limit}`, ops: crowd }]
  }).flat()
}

/** Returns more than `limit` operations that certainly happened within one window, or undefined if there are none. */
export function crowdIn(
  ops: readonly Op[],
  limit: number,
  apart: (earlier: Op, later: Op) => boolean = () => false,
): Op[] | undefined {
  // The server counts whole ms.
  const perMs = DECLARED.perMs - 2
  const byEnd = ops.toSorted((a, b) => a.end - b.end)
  for (const [index, last] of byEnd.entries()) {
    const crowd: Op[] = []
    for (let at = index; at >= 0 && byEnd[at]!.end > last.end - perMs; at -= 1) {
      const op = byEnd[at]!
      if (op.start > last.end - perMs && !apart(op, last)) crowd.push(op)
    }
    if (crowd.length > limit) return crowd.toReversed()
  }
  return undefined
}

function touches({ start, end }: Op, { from, to }: { from: number; to: number }): boolean {
  return start <= to && end >= from
}
