import type { Figures, Trial, TrialTarget, Tried } from '../trial.ts'
import { type Spread, spread } from './summary.ts'

/** One contender in one case, figure by figure over all rounds. */
export interface TrialRow {
  readonly contender: string
  readonly figures: { readonly [figure: string]: Spread }
}

/** A target of a trial, and what the run came to. */
export interface TrialVerdict extends TrialTarget {
  /** The figure, or its ratio to that of the best of the others or of the other case, round by round. */
  readonly value: Spread
  /** Who the best of the others was. */
  readonly best?: string
  readonly met: boolean
}

/** A trial as the report shows it. */
export interface TrialSummary {
  readonly trial: Trial
  readonly cases: readonly { readonly name: string; readonly rows: readonly TrialRow[] }[]
  readonly verdicts: readonly TrialVerdict[]
}

/** Sums up the rounds of a trial. */
export function summariseTrial(trial: Trial, results: readonly Tried[]): TrialSummary {
  const of = (name: string, contender: string): readonly Figures[] =>
    results.filter((each) => each.case === name && each.contender === contender).map(({ figures }) => figures)
  const cases = (trial.huge ?? trial.cases)
    .map((name) => ({
      name,
      rows: Object.keys(trial.contenders).flatMap((contender) => {
        const rounds = of(name, contender)
        return rounds.length === 0 ? [] : [{ contender, figures: spreads(rounds) }]
      }),
    }))
    .filter(({ rows }) => rows.length > 0)
  const verdicts = trial.targets.flatMap((target) => {
    const { against, againstCase, case: name, figure, ours } = target
    const values = (name: string, contender: string) =>
      of(name, contender).flatMap((round) => round[figure] ?? [])
    const own = values(name, ours)
    if (own.length === 0) return []
    if (againstCase !== undefined) {
      const before = values(againstCase, ours)
      return before.length === 0 ? [] : [verdict(target, divided(own, before))]
    }
    if (against === undefined) return [verdict(target, spread(own))]
    const rows = cases.find((each) => each.name === name)?.rows ?? []
    const best = rows
      .filter(({ contender }) => against.includes(contender))
      .toSorted(
        (a, b) =>
          (a.figures[figure]!.median - b.figures[figure]!.median) * (target.atMost === undefined ? -1 : 1),
      )[0]
    if (best === undefined) return []
    return [verdict(target, divided(own, values(name, best.contender)), best.contender)]
  })
  return { trial, cases, verdicts }
}

function divided(values: readonly number[], by: readonly number[]): Spread {
  return spread(values.map((value, index) => value / by[index]!))
}

function spreads(rounds: readonly Figures[]): { [figure: string]: Spread } {
  const names = Object.keys(rounds[0]!)
  return Object.fromEntries(names.map((name) => [name, spread(rounds.map((round) => round[name]!))]))
}

function verdict(target: TrialTarget, value: Spread, best?: string): TrialVerdict {
  const { atLeast = -Infinity, atMost = Infinity, always = false } = target
  const [least, most] = always ? [value.min, value.max] : [value.median, value.median]
  return {
    ...target,
    value,
    ...(best === undefined ? {} : { best }),
    met: least >= atLeast && most <= atMost,
  }
}
