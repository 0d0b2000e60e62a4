/**
 * The invariants that do not hold yet, of all topologies or, as `cluster:name`, of one. Their violations are printed, and
 * do not fail a run.
 */
export const KNOWN_BROKEN: readonly string[] = []

/** Whether an invariant is known to be broken in a topology. */
export function isKnownBroken(topology: string, invariant: string): boolean {
  return KNOWN_BROKEN.includes(invariant) || KNOWN_BROKEN.includes(`${topology}:${invariant}`)
}
