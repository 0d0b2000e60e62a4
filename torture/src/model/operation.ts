import type { Op, Outcome } from '../history.ts'

/** Makes an operation by hand, for the tests of the models: defaults to the first process. */
export function operation(
  recipe: string,
  verb: string,
  [start, end]: readonly [number, number],
  outcome: Outcome,
  given: { readonly key?: string; readonly asked?: unknown; readonly process?: string } = {},
): Op {
  const { key = 'a', asked, process = 'p1' } = given
  return { id: `${process}#${start}`, process, recipe, verb, key, asked, start, end, outcome, threw: false }
}
