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
  /** The rate where client and server had a core each, if that was measured. */
  readonly perSecondOnTwoCores?: Spread
}

/** Ours, and the best of the others. */
export interface Comparison {
  /** Ours divided by the best of the others, round by round. */
  readonly ratio: Spread
  /** The same of CPU time a thing on both sides of the wire: what a noisy machine disturbs least. */
  readonly cpuRatio: number
  /** Who the best of the others was. */
  readonly best: string
}

/** A target, and what the run came to. */
export interface Verdict extends Target, Comparison {
  readonly met: boolean
  /** The same where client and server had a core each, if that was measured; it is met or not where something is promised of it. */
  readonly twoCores?: Comparison & { readonly met?: boolean }
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
  const one = new Rounds(results.filter(({ cores }) => cores !== 2))
  const two = new Rounds(results.filter(({ cores }) => cores === 2))
  const cases = job.cases.map(({ name }) => ({
    name,
    rows: Object.keys(job.contenders).flatMap((contender) => {
      const row = one.row(name, contender)
      if (row === undefined) return []
      const { perSecond } = two.row(name, contender) ?? {}
      return [perSecond === undefined ? row : { ...row, perSecondOnTwoCores: perSecond }]
    }),
  }))
  const verdicts = job.targets.flatMap((target) => {
    const compared = one.compare(target)
    return compared === undefined
      ? []
      : [{ ...target, ...compared, met: compared.ratio.median >= target.atLeast, ...onTwoCores(target, two) }]
  })
  return { job: job.name, about: job.about, cases, verdicts }
}

function onTwoCores(target: Target, rounds: Rounds): Pick<Verdict, 'twoCores'> {
  const compared = rounds.compare(target)
  if (compared === undefined) return {}
  if (target.onTwoCores === undefined) return { twoCores: compared }
  return { twoCores: { ...compared, met: compared.ratio.median >= target.onTwoCores } }
}

/** The rounds of a job in one place. */
class Rounds {
  readonly #all: readonly Measured[]

  constructor(all: readonly Measured[]) {
    this.#all = all
  }

  row(name: string, contender: string): Row | undefined {
    const rounds = this.#of(name, contender)
    const middle = (pick: (round: Measured) => number) => spread(rounds.map(pick)).median
    if (rounds.length === 0) return undefined
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

  compare({ case: name, ours, against }: Target): Comparison | undefined {
    const best = against
      .flatMap((contender) => this.row(name, contender) ?? [])
      .toSorted((a, b) => b.perSecond.median - a.perSecond.median)[0]
    const own = this.row(name, ours)
    if (best === undefined || own === undefined) return undefined
    const theirs = this.#of(name, best.contender)
    const cpu = (row: Row) => row.clientMicros + row.serverMicros
    return {
      best: best.contender,
      ratio: spread(this.#of(name, ours).map((round, index) => round.perSecond / theirs[index]!.perSecond)),
      cpuRatio: cpu(best) / cpu(own),
    }
  }

  #of(name: string, contender: string): readonly Measured[] {
    return this.#all.filter((each) => each.case === name && each.contender === contender)
  }
}

/** The spread of at least one value. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length / 2
  const median = Number.isInteger(half) ? (sorted[half - 1]! + sorted[half]!) / 2 : sorted[Math.floor(half)]!
  return { median, min: sorted[0]!, max: sorted.at(-1)! }
}
