import { type Op, valueOf } from '../history.ts'
import { lossesOf } from './losses.ts'
import { byKey, type Evidence, type Model, type Violation } from './model.ts'

/** The part of an acquire or an extend that an actor records. `until`: the lock is certainly held up to then. */
export interface Hold {
  readonly ours: boolean
  readonly token?: string
  readonly fence?: number
  readonly until?: number
}

/** A lock has at most one holder while leases last. */
export const lockExclusion: Model = {
  invariant: 'lock-exclusion',
  judge: (evidence) =>
    Array.from(byKey(evidence, 'lock'), ([key, ops]) => together(key, ops, evidence)).flat(),
}

interface Span {
  readonly token: string
  readonly from: number
  readonly until: number
  readonly op: Op
}

function together(key: string, ops: readonly Op[], evidence: Evidence): Violation[] {
  const cuts = lossesOf(evidence.losses, 'leases')
  const releases = new Map<unknown, number>()
  for (const { verb, asked, start } of ops)
    if (verb === 'release' && !releases.has(asked)) releases.set(asked, start)
  const spans = ops
    .flatMap((op): Span[] => {
      const hold = op.verb === 'acquire' || op.verb === 'extend' ? valueOf<Hold>(op) : undefined
      if (hold?.ours !== true || hold.token === undefined || hold.until === undefined) return []
      const { token } = hold
      const steps = cuts.filter(({ to }) => to > op.start).map(({ from }) => from)
      const until = Math.min(hold.until, releases.get(token) ?? Infinity, ...steps)
      return until > op.end ? [{ token, from: op.end, until, op }] : []
    })
    .sort((a, b) => a.from - b.from)
  const found: Violation[] = []
  let last: Span | undefined
  for (const span of spans) {
    if (last !== undefined && last.token !== span.token && span.from < last.until - 1)
      found.push({
        what: `${key} had two holders for ${(Math.min(last.until, span.until) - span.from).toFixed(1)} ms`,
        ops: [last.op, span.op],
      })
    if (last === undefined || span.until > last.until) last = span
  }
  return found
}
