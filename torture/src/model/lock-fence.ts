import { type Op, valueOf } from '../history.ts'
import type { Hold } from './lock-exclusion.ts'
import { lossesOf } from './losses.ts'
import { byKey, falls, type Model } from './model.ts'

/** Fences strictly rise from holder to holder. */
export const lockFence: Model = {
  invariant: 'lock-fence',
  judge: (evidence) =>
    Array.from(byKey(evidence, 'lock'), ([key, ops]) =>
      eras(ops, lossesOf(evidence.losses, 'fences')).flatMap((era) =>
        falls(era, (op) => (op.verb === 'acquire' ? valueOf<Hold>(op)?.fence : undefined), {
          strictly: true,
        }).map((pair) => ({ what: `${key}: a later holder has no higher fence`, ops: pair })),
      ),
    ).flat(),
}

/** Splits the operations at each loss; those that touch one are left out. */
function eras(ops: readonly Op[], losses: readonly { from: number; to: number }[]): Op[][] {
  const [first, ...rest] = losses.toSorted((a, b) => a.from - b.from)
  if (first === undefined) return [[...ops]]
  return [
    ops.filter(({ end }) => end < first.from),
    ...eras(
      ops.filter(({ start }) => start > first.to),
      rest,
    ),
  ]
}
