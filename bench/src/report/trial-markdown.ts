import type { Figure, Figures, Trial } from '../trial.ts'
import { type Circumstances, circumstances, row } from './markdown.ts'
import type { Spread } from './summary.ts'
import type { TrialSummary, TrialVerdict } from './trial-summary.ts'

/** A trial of the report. */
export function trialSection({ trial, cases, verdicts }: TrialSummary, made: Circumstances): string[] {
  const label = (contender: string) => trial.contenders[contender]!.label
  const lines = ['', `## ${trial.name}`, '', trial.about, '', circumstances(made)]
  if (verdicts.length > 0) {
    lines.push('', ...row(['case', 'figure', 'ours', 'against', 'median (least–most)', 'target', 'met']))
    lines.push('|---|---|---|---|---|---|---|')
    for (const verdict of verdicts) {
      const { againstCase = '', best, met, ours, value } = verdict
      const against = best === undefined ? againstCase : label(best)
      const unit = against === '' ? (trial.figures[verdict.figure]!.unit ?? '') : '×'
      lines.push(
        ...row([
          verdict.case,
          trial.figures[verdict.figure]!.label,
          label(ours),
          against,
          `**${within(value, unit)}**`,
          bounds(verdict, unit),
          met ? 'yes' : 'no',
        ]),
      )
    }
  }
  return [...lines, ...(trial.grows === undefined ? tables : curves)({ trial, cases, verdicts })]
}

/** What one run came to, on one line. */
export function figuresLine({ figures: declared }: Trial, figures: Figures): string {
  return Object.entries(figures)
    .map(([name, value]) => `${declared[name]!.label} ${figure(value)}${spaced(declared[name]!.unit ?? '')}`)
    .join(', ')
}

/** A table for each case, a line for each contender. */
function tables({ trial, cases }: TrialSummary): string[] {
  return cases.flatMap(({ name, rows }) => {
    const figures = Object.entries(trial.figures).filter(([figure]) =>
      rows.some((each) => figure in each.figures),
    )
    return [
      '',
      `### ${name}`,
      '',
      ...row(['', ...figures.map(([, figure]) => head(figure))]),
      `|${'---|'.repeat(figures.length + 1)}`,
      ...rows.flatMap(({ contender, figures: values }) =>
        row([
          trial.contenders[contender]!.label,
          ...figures.map(([figure]) => (values[figure] === undefined ? '' : within(values[figure]))),
        ]),
      ),
    ]
  })
}

/** One table: a line for each size, a column for each figure of each contender. */
function curves({ trial, cases }: TrialSummary): string[] {
  const columns = Object.entries(trial.contenders).flatMap(([contender, { label }]) =>
    Object.entries(trial.figures)
      .filter(([figure]) =>
        cases.some(({ rows }) => rows.some((each) => each.contender === contender && figure in each.figures)),
      )
      .map(([figure, spec]) => ({ contender, figure, title: `${label}: ${head(spec)}` })),
  )
  return [
    '',
    ...row(['', ...columns.map(({ title }) => title)]),
    `|${'---|'.repeat(columns.length + 1)}`,
    ...cases.flatMap(({ name, rows }) =>
      row([
        name,
        ...columns.map(({ contender, figure }) => {
          const value = rows.find((each) => each.contender === contender)?.figures[figure]
          return value === undefined ? '' : within(value)
        }),
      ]),
    ),
  ]
}

/** What a figure is called, with its unit. */
export function head({ label, unit }: Figure): string {
  return unit === undefined ? label : `${label}, ${unit}`
}

function bounds({ atLeast, atMost, always }: TrialVerdict, unit: string): string {
  const said =
    atLeast === atMost
      ? `exactly ${atLeast}`
      : [atLeast === undefined ? '' : `≥ ${atLeast}`, atMost === undefined ? '' : `≤ ${atMost}`]
          .filter((bound) => bound !== '')
          .join(', ')
  return `${said}${spaced(unit)}${always === true ? ', always' : ''}`
}

function within({ median, min, max }: Spread, unit = ''): string {
  const middle = `${figure(median)}${spaced(unit)}`
  return min === max ? middle : `${middle} (${figure(min)}–${figure(max)})`
}

function spaced(unit: string): string {
  return unit === '' || unit === '×' ? unit : ` ${unit}`
}

function figure(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString('en')
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return value.toFixed(value >= 10 ? 1 : value >= 0.1 ? 2 : 4)
}
