import { isLost, type Op, valueOf } from '../history.ts'
import { DECLARED } from '../schema.ts'
import { byKey, type Model, type Violation } from './model.ts'

/** The part of a take that an actor records. `window`: the ISO time at which it began. */
export interface QuotaTake {
  readonly allowed: boolean
  readonly used: number
  readonly window: string
}

/** A quota admits no more than its limit in a window, counts each admission once, and its mirror shows the same. */
export const quotaExact: Model = {
  invariant: 'quota-exact',
  judge: (evidence) =>
    Array.from(byKey(evidence, 'quota'), ([key, ops]) => {
      const found: Violation[] = []
      const lost = ops.filter(isLost)
      const admitted = new Map<string, Op[]>()
      for (const op of ops) {
        if (valueOf<QuotaTake>(op)?.allowed !== true) continue
        const window = windowOf(op)
        const own = admitted.get(window)
        if (own === undefined) admitted.set(window, [op])
        else own.push(op)
      }
      for (const [window, taken] of admitted) {
        if (taken.length > DECLARED.quota)
          found.push({ what: `${key} admitted ${taken.length} of ${DECLARED.quota}`, ops: taken.slice(-5) })
        const twins = new Map<number, Op>()
        for (const op of taken) {
          const { used } = valueOf<QuotaTake>(op)!
          const twin = twins.get(used)
          if (twin !== undefined)
            found.push({ what: `${key} admitted as number ${used} twice`, ops: [twin, op] })
          twins.set(used, op)
        }
        const stands = evidence.final?.quotas[window]
        if (stands === undefined) continue
        const { count, mirror } = stands
        if (count !== mirror)
          found.push({ what: `${key} counts ${count}, and its mirror ${mirror}`, ops: [] })
        if (count < taken.length || count > taken.length + lost.length)
          found.push({
            what: `${key} counts ${count}, after ${taken.length} admissions and ${lost.length} takes that nobody knows of`,
            ops: lost.slice(0, 5),
          })
      }
      return found
    }).flat(),
}

/** Returns the ends of the keys of all windows that were taken from. */
export function windowsOf(ops: readonly Op[]): Set<string> {
  return new Set(ops.filter((op) => op.recipe === 'quota' && valueOf(op) !== undefined).map(windowOf))
}

/** Returns the end of the key of a take's window: `{a}:2024-09-17_14`. */
function windowOf(op: Op): string {
  const { window } = valueOf<QuotaTake>(op)!
  return `{${op.key}}:${window.slice(0, 13).replace('T', '_')}`
}
