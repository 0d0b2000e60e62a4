import { type Op, valueOf } from '../history.ts'
import type { Hold } from './lock-exclusion.ts'
import { byKey, type Model } from './model.ts'

/** A holder whose lock has passed to another learns it: its release and its extend answer false. */
export const lockLate: Model = {
  invariant: 'lock-late',
  judge: (evidence) =>
    Array.from(byKey(evidence, 'lock'), ([key, ops]) => {
      const acquired = ops.filter((op) => op.verb === 'acquire' && valueOf<Hold>(op)?.ours === true)
      const owners = new Map(acquired.map((op, at) => [valueOf<Hold>(op)?.token, at]))
      return ops.filter(claimsToHold).flatMap((op) => {
        const at = owners.get(op.asked as string)
        const own = at === undefined ? undefined : acquired[at]
        const next = own === undefined ? undefined : between(acquired, at!, own.end, op.start)
        if (own === undefined || next === undefined) return []
        return [
          { what: `${key}: ${op.verb} answered true, but another holder came between`, ops: [own, next, op] },
        ]
      })
    }).flat(),
}

/** Returns an operation behind `at` that lies wholly between two moments. They stand in the order of their starts. */
function between(ops: readonly Op[], at: number, from: number, to: number): Op | undefined {
  for (let next = at + 1; next < ops.length && ops[next]!.start < to; next += 1)
    if (ops[next]!.start > from && ops[next]!.end < to) return ops[next]
  return undefined
}

function claimsToHold(op: Op): boolean {
  if (op.verb === 'release') return valueOf(op) === true
  return op.verb === 'extend' && valueOf<Hold>(op)?.ours === true
}
