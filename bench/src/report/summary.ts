import type { Job, Target } from '../job.ts'
import type { Measured } from '../measure.ts'

/** The middle, the least and the most of several rounds. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** One contender in one case, over all rounds. */
export interface Row {
  readonly contender: string
  readonly perSecond: Spread
  readonly clientMicros: number
  readonly serverMicros: number
  readonly commands: number
  readonly p50Micros: number
  readonly p99Micros: number
}

/** A target, and what the run came to. */
export interface Verdict extends Target {
  /** Ours divided by the best of the others, round by round. */
  readonly ratio: Spread
  /** The same of CPU time a thing on both sides of the wire: what a noisy machine disturbs least. */
  readonly cpuRatio: number
  /** Who the best of the others was. */
  readonly best: string
  readonly met: boolean
}

/** A job as the report shows it. */
export interface Summary {
  readonly job: string
  readonly about: string
  readonly cases: readonly { readonly name: string; readonly rows: readonly Row[] }[]
  readonly verdicts: readonly Verdict[]
}

/** Sums up the rounds of a job. */
export function summarise(job: Job, results: readonly Measured[]): Summary {
  const of = (name: string, contender: string) =>
    results.filter((each) => each.case === name && each.contender === contender)
  const cases = job.cases.map(({ name }) => ({
    name,
    rows: Object.keys(job.contenders).flatMap((contender) => {
      const rounds = of(name, contender)
      return rounds.length === 0 ? [] : [rowOf(contender, rounds)]
    }),
  }))
  const verdicts = job.targets.flatMap((target) => {
    const rows = cases.find(({ name }) => name === target.case)?.rows ?? []
    const others = rows.filter(({ contender }) => target.against.includes(contender))
    const best = others.toSorted((a, b) => b.perSecond.median - a.perSecond.median)[0]
    const own = rows.find(({ contender }) => contender === target.ours)
    if (best === undefined || own === undefined) return []
    const theirs = of(target.case, best.contender)
    const ratio = spread(
      of(target.case, target.ours).map((round, index) => round.perSecond / theirs[index]!.perSecond),
    )
    const cpu = (row: Row) => row.clientMicros + row.serverMicros
    return [
      {
        ...target,
        best: best.contender,
        ratio,
        cpuRatio: cpu(best) / cpu(own),
        met: ratio.median >= target.atLeast,
      },
    ]
  })
  return { job: job.name, about: job.about, cases, verdicts }
}

function rowOf(contender: string, rounds: readonly Measured[]): Row {
  const middle = (pick: (round: Measured) => number) => spread(rounds.map(pick)).median
  return {
    contender,
    perSecond: spread(rounds.map((round) => round.perSecond)),
    clientMicros: middle((round) => round.clientMicros),
    serverMicros: middle((round) => round.serverMicros),
    commands: middle((round) => round.commands),
    p50Micros: middle((round) => round.p50Micros),
    p99Micros: middle((round) => round.p99Micros),
  }
}

/** The spread of at least one value. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length / 2
  const median = Number.isInteger(half) ? (sorted[half - 1]! + sorted[half]!) / 2 : sorted[Math.floor(half)]!
  return { median, min: sorted[0]!, max: sorted.at(-1)! }
}
