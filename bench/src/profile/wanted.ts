import type { Job } from '../job.ts'
import type { Measured } from '../measure.ts'
import type { Place } from '../pin.ts'
import { summarise } from '../report/summary.ts'

/** What is to be profiled, and where. */
export interface Wanted {
  readonly contender: string
  readonly case: string
  readonly place: Place
}

/** Ours in each case that misses a target, in the place where it does: in the first where it does in both. */
export function missed(
  job: Job,
  measured: readonly Measured[],
  [first, second]: readonly [Place, ...Place[]],
): Wanted[] {
  return once(
    summarise(job, measured).verdicts.flatMap(({ case: name, met, ours, twoCores }) => {
      const place = met ? (twoCores?.met === false ? second : undefined) : first
      return place === undefined ? [] : [{ contender: ours, case: name, place }]
    }),
  )
}

/** Whatever is ours in the cases whose name has this text. */
export function named(job: Job, text: string, place: Place): Wanted[] {
  const contenders = job.targets.map(({ ours }) => ours)
  return once(
    job.cases
      .filter(({ name }) => name.includes(text))
      .flatMap(({ name }) => contenders.map((contender) => ({ contender, case: name, place }))),
  )
}

function once(wanted: readonly Wanted[]): Wanted[] {
  return wanted.filter(
    (each, index) =>
      wanted.findIndex(({ contender, case: name }) => contender === each.contender && name === each.case) ===
      index,
  )
}
