import type { Op } from '../history.ts'
import type { Final } from '../final.ts'
import { type Loss, withLosses } from './losses.ts'

/** Everything that a run left behind. */
export interface Evidence {
  /** The operations in the order in which they began. */
  readonly ops: readonly Op[]
  readonly losses: readonly Loss[]
  /** The raw state of Redis after the run; undefined where a model is tried on a history alone. */
  readonly final?: Final
}

/** A broken promise, and the operations that show it. */
export interface Violation {
  readonly what: string
  readonly ops: readonly Op[]
}

/** An invariant and its judge. The judge reports only what no order of events could explain. */
export interface Model {
  readonly invariant: string
  judge(evidence: Evidence): Violation[]
}

/** Returns the operations of one recipe by key, with those marked as lost that a failover may have undone. */
export function byKey({ ops, losses }: Evidence, ...recipes: string[]): Map<string, Op[]> {
  const groups = new Map<string, Op[]>()
  for (const op of withLosses(
    ops.filter(({ recipe }) => recipes.includes(recipe)),
    losses,
  )) {
    const name = `${op.recipe}:${op.key}`
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [op])
    else group.push(op)
  }
  return groups
}

/**
 * Returns each operation whose number is below that of an operation which ended before it began, beside that one.
 * Two numbers that are equal count as a fall if `strictly` they must rise.
 */
export function falls(
  ops: readonly Op[],
  numberOf: (op: Op) => number | undefined,
  { strictly = false } = {},
): [higher: Op, lower: Op][] {
  const numbered = ops.flatMap((op) => {
    const number = numberOf(op)
    return number === undefined ? [] : [{ op, number }]
  })
  const byEnd = numbered.toSorted((a, b) => a.op.end - b.op.end)
  const found: [Op, Op][] = []
  let highest: { op: Op; number: number } | undefined
  let at = 0
  for (const { op, number } of numbered.toSorted((a, b) => a.op.start - b.op.start)) {
    for (; byEnd[at] !== undefined && byEnd[at]!.op.end < op.start; at += 1)
      if (highest === undefined || byEnd[at]!.number > highest.number) highest = byEnd[at]
    if (highest !== undefined && (number < highest.number || (strictly && number === highest.number)))
      found.push([highest.op, op])
  }
  return found
}

/** Returns the place of the first operation that begins after a moment. They stand in the order of their starts. */
export function firstAfter(ops: readonly Op[], moment: number): number {
  let [low, high] = [0, ops.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ops[middle]!.start > moment) high = middle
    else low = middle + 1
  }
  return low
}
