import { type Op, valueOf } from '../history.ts'
import { DECLARED } from '../schema.ts'
import { byKey, type Model, type Violation } from './model.ts'

/** The part of a read that an actor records: the generations that it saw, and the number of members. */
export interface Seen {
  readonly generations: readonly string[]
  readonly size: number
}

/** A swap is seen whole: all members of one generation, and no nothing after the first. */
export const swapWhole: Model = {
  invariant: 'swap-whole',
  judge: (evidence) =>
    Array.from(byKey(evidence, 'swap'), ([key, ops]) => {
      const first = Math.min(...ops.filter(isReplaced).map(({ end }) => end))
      return ops
        .filter(({ verb }) => verb === 'members')
        .flatMap((op): Violation[] => {
          const seen = valueOf<Seen>(op)
          if (seen === undefined) return []
          if (seen.size === 0)
            return op.start > first ? [{ what: `${key} was seen empty after a swap`, ops: [op] }] : []
          if (seen.generations.length === 1 && seen.size === DECLARED.members) return []
          return [
            { what: `${key}: ${seen.size} members of ${seen.generations.length} generations`, ops: [op] },
          ]
        })
    }).flat(),
}

function isReplaced(op: Op): boolean {
  return op.verb === 'replace' && valueOf(op) === true
}
