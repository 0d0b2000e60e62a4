import { type Op, succeeded, valueOf } from '../history.ts'
import { byKey, firstAfter, type Model } from './model.ts'

/** A copy is served for at most 3 s after it was overwritten (docs/design/near-cache.md), and a slow machine has a little more. */
const SERVED_MS = 3500

/** A near copy is not served long after its value was overwritten or deleted. */
export const nearLate: Model = {
  invariant: 'near-late',
  judge: (evidence) =>
    Array.from(byKey(evidence, 'near'), ([key, ops]) => {
      const writes = ops.filter((op) => op.verb !== 'get' && succeeded(op))
      const sets = new Map<unknown, Op>()
      for (const op of writes) if (op.verb === 'set') sets.set(op.asked, op)
      // The first end of a write that began after an operation ended, by the place at which it may begin.
      const ends: number[] = []
      for (let at = writes.length - 1; at >= 0; at -= 1)
        ends[at] = Math.min(writes[at]!.end, ends[at + 1] ?? Infinity)
      return ops.flatMap((op) => {
        const value = op.verb === 'get' ? valueOf<string | null>(op) : undefined
        const set = typeof value === 'string' ? sets.get(value) : undefined
        if (set === undefined) return []
        const from = firstAfter(writes, set.end)
        if ((ends[from] ?? Infinity) + SERVED_MS >= op.start) return []
        const next = writes.slice(from).find(({ end }) => end === ends[from])!
        return [
          { what: `${key} answered what had been written over ${SERVED_MS} ms before`, ops: [set, next, op] },
        ]
      })
    }).flat(),
}
