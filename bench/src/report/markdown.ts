import type { Job } from '../job.ts'
import type { Comparison, Spread, Summary, Verdict } from './summary.ts'

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
  return `_${setting(made)}; at most ${made.rounds} interleaved rounds._`
}

/** When and on what a run was made. */
export function setting({ cpu, date, node, quick, redis }: Circumstances): string {
  return `${date}${quick ? ', a quick look' : ''}: Node ${node}, Redis ${redis}, ${cpu}`
}

/** A job of the report: what was promised and what came of it first, then all figures. */
export function jobSection(job: Job, { about, cases, verdicts }: Summary, made: Circumstances): string[] {
  const label = (contender: string) => job.contenders[contender]!.label
  const hasTwo = verdicts.some(({ twoCores }) => twoCores !== undefined)
  const lines = ['', `## ${job.name}`, '', `${about} ${places(made, hasTwo)}`, '', circumstances(made), '']
  lines.push(
    ...row(
      ['case', 'ours', 'against', 'ratio (least–most)', 'of CPU time', 'target', 'met'],
      hasTwo ? ['on two cores', 'target', 'met'] : [],
    ),
    `|${'---|'.repeat(hasTwo ? 10 : 7)}`,
  )
  for (const verdict of verdicts) {
    const { atLeast, best, cpuRatio, met, ours } = verdict
    lines.push(
      ...row(
        [
          verdict.case,
          label(ours),
          label(best),
          ratio(verdict),
          times(cpuRatio),
          `≥ ${times(atLeast)}`,
          said(met),
        ],
        hasTwo ? onTwoCores(verdict, label) : [],
      ),
    )
  }
  for (const { name, rows } of cases) {
    const apart = rows.some(({ perSecondOnTwoCores }) => perSecondOnTwoCores !== undefined)
    lines.push(
      '',
      `### ${name}`,
      '',
      ...row(
        [
          '',
          'a second: median (least–most)',
          'client CPU µs',
          'server CPU µs',
          'commands',
          'p50 µs',
          'p99 µs',
        ],
        apart ? ['a second on two cores'] : [],
      ),
      `|${'---|'.repeat(apart ? 8 : 7)}`,
    )
    for (const { contender, perSecond, perSecondOnTwoCores, ...costs } of rows) {
      const { clientMicros, serverMicros, commands, p50Micros, p99Micros } = costs
      lines.push(
        ...row(
          [label(contender), rates(perSecond)],
          [clientMicros, serverMicros, commands, p50Micros, p99Micros].map(short),
          perSecondOnTwoCores === undefined ? [] : [rates(perSecondOnTwoCores)],
        ),
      )
    }
  }
  return lines
}

function places({ pinned, roundMs }: Circumstances, hasTwo: boolean): string {
  if (!pinned) return `Not pinned: the system chose the cores. Rounds of ${roundMs} ms.`
  return (
    `Each client and its server on one core, rounds of ${roundMs} ms, each after a third of that which does not count; ` +
    (hasTwo
      ? 'then, in fewer rounds, on two cores: the server on that one, the client with all its threads on another.'
      : 'not measured on two cores.')
  )
}

/** The cells of a target on two cores; who the best of the others is may differ there. */
function onTwoCores({ best, onTwoCores, twoCores }: Verdict, label: (contender: string) => string): string[] {
  if (twoCores === undefined) return ['', '', '']
  const other = twoCores.best === best ? '' : ` / ${label(twoCores.best)}`
  return [
    `${ratio(twoCores)}${other}`,
    onTwoCores === undefined ? '' : `≥ ${times(onTwoCores)}`,
    twoCores.met === undefined ? '' : said(twoCores.met),
  ]
}

/** A line of a table. */
export function row(...cells: readonly (readonly string[])[]): string[] {
  return [`| ${cells.flat().join(' | ')} |`]
}

function ratio({ ratio: { median, min, max } }: Comparison): string {
  return `**${times(median)}** (${times(min)}–${times(max)})`
}

function said(met: boolean): string {
  return met ? 'yes' : 'no'
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
