import { type Op, succeeded, isLost, valueOf } from '../history.ts'
import { byKey, type Model, type Violation } from './model.ts'

/** `update` loses no write: no two answers are equal, and the value is the number of updates. */
export const updateLost: Model = {
  invariant: 'update-lost',
  judge: (evidence) =>
    Array.from(byKey(evidence, 'balance'), ([key, ops]) => {
      const found: Violation[] = []
      const answers = new Map<number, Op>()
      for (const op of ops) {
        const value = valueOf<number>(op)
        if (value === undefined) continue
        const twin = answers.get(value)
        if (twin !== undefined) found.push({ what: `${key} was updated to ${value} twice`, ops: [twin, op] })
        answers.set(value, op)
      }
      const stored = evidence.final?.numbers[key]
      if (stored !== undefined) found.push(...miscounted(key, ops, stored))
      return found
    }).flat(),
}

/** Reports a number that is not the sum of what was added to it, given that each lost operation may have been applied. */
export function miscounted(key: string, ops: readonly Op[], stored: number): Violation[] {
  const least = ops.filter(succeeded).length
  const most = least + ops.filter(isLost).length
  if (stored >= least && stored <= most) return []
  return [
    {
      what: `${key} is ${stored}, after ${least} operations that succeeded and ${most - least} that nobody knows of`,
      ops: ops.filter(isLost).slice(0, 5),
    },
  ]
}
