import type { Job } from '../job.ts'
import type { Spread, Summary } from './summary.ts'

/** Where and when a run was made. */
export interface Circumstances {
  readonly date: string
  readonly node: string
  readonly redis: string
  readonly cpu: string
  readonly pinned: boolean
  readonly rounds: number
  readonly roundMs: number
  readonly quick: boolean
}

/** How a section was measured, in a sentence. */
export function circumstances(made: Circumstances): string {
  return (
    `_${made.date}${made.quick ? ', a quick look' : ''}: Node ${made.node}, Redis ${made.redis}, ${made.cpu}; ` +
    `at most ${made.rounds} interleaved rounds._`
  )
}

/** A job of the report: what was promised and what came of it first, then all figures. */
export function jobSection(job: Job, { about, cases, verdicts }: Summary, made: Circumstances): string[] {
  const label = (contender: string) => job.contenders[contender]!.label
  const pinned = made.pinned ? 'Each client and its server on one core' : 'Not pinned'
  const lines = [
    '',
    `## ${job.name}`,
    '',
    `${about} ${pinned}, rounds of ${made.roundMs} ms.`,
    '',
    circumstances(made),
    '',
  ]
  lines.push(
    '| case | ours | against | ratio (least–most) | of CPU time | target | met |',
    '|---|---|---|---|---|---|---|',
  )
  for (const verdict of verdicts) {
    lines.push(
      `| ${verdict.case} | ${label(verdict.ours)} | ${label(verdict.best)} | **${times(verdict.ratio.median)}** ` +
        `(${times(verdict.ratio.min)}–${times(verdict.ratio.max)}) | ${times(verdict.cpuRatio)} | ≥ ${times(verdict.atLeast)} | ` +
        `${verdict.met ? 'yes' : 'no'} |`,
    )
  }
  for (const { name, rows } of cases) {
    lines.push(
      '',
      `### ${name}`,
      '',
      '| | a second: median (least–most) | client CPU µs | server CPU µs | commands | p50 µs | p99 µs |',
      '|---|---|---|---|---|---|---|',
    )
    for (const row of rows) {
      lines.push(
        `| ${label(row.contender)} | ${rates(row.perSecond)} | ${short(row.clientMicros)} | ${short(row.serverMicros)} | ` +
          `${short(row.commands)} | ${short(row.p50Micros)} | ${short(row.p99Micros)} |`,
      )
    }
  }
  return lines
}

function times(ratio: number): string {
  return `${ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(2)}×`
}

function rates({ median, min, max }: Spread): string {
  const whole = (value: number) => Math.round(value).toLocaleString('en')
  return `${whole(median)} (${whole(min)}–${whole(max)})`
}

function short(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 2)
}
