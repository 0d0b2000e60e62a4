import { type Op, valueOf } from '../history.ts'
import { byKey, type Model, type Violation } from './model.ts'

/** A sequence hands out no number twice. */
export const sequenceRepeat: Model = {
  invariant: 'sequence-repeat',
  judge: (evidence) =>
    Array.from(byKey(evidence, 'ids'), ([key, ops]) => {
      const owners = new Map<number, Op>()
      const found: Violation[] = []
      for (const op of ops) {
        const issued = valueOf<{ first: number; last: number }>(op)
        if (issued === undefined) continue
        for (let number = issued.first; number <= issued.last; number += 1) {
          const owner = owners.get(number)
          if (owner !== undefined) found.push({ what: `${key} handed out ${number} twice`, ops: [owner, op] })
          owners.set(number, op)
        }
      }
      return found
    }).flat(),
}
