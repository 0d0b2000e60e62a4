import { escaped, picture } from './svg.ts'
import type { Summary } from './summary.ts'
import type { TrialSummary } from './trial-summary.ts'

const ROW = 22
const LEFT = 360
const WIDTH = 860

/** The ratios as bars, on a logarithmic scale, each with a mark where its target is. */
export function ratioChart(summaries: readonly Summary[], trials: readonly TrialSummary[]): string {
  const bars = [...summaries.flatMap(barsOf), ...trials.flatMap(barsOfTrial)]
  const most = Math.max(2, ...bars.map(({ ratio, target }) => Math.max(ratio, target)))
  const least = Math.min(0.5, ...bars.map(({ ratio, target }) => Math.min(ratio, target)))
  const x = (ratio: number) =>
    LEFT + ((Math.log(ratio) - Math.log(least)) / (Math.log(most) - Math.log(least))) * (WIDTH - LEFT - 70)
  const height = bars.length * ROW + 50
  const parts = bars.map(({ name, ratio, target, met }, index) => {
    const y = 40 + index * ROW
    const [from, to] = [Math.min(x(1), x(ratio)), Math.max(x(1), x(ratio))]
    return [
      `<text x="${LEFT - 10}" y="${y + 12}" text-anchor="end">${escaped(name)}</text>`,
      `<rect x="${from.toFixed(1)}" y="${y + 2}" width="${Math.max(1, to - from).toFixed(1)}" height="13" fill="${met ? '#2e7d32' : '#c62828'}"/>`,
      `<line x1="${x(target).toFixed(1)}" x2="${x(target).toFixed(1)}" y1="${y}" y2="${y + 17}" stroke="#111" stroke-width="2"/>`,
      `<text x="${(to + 6).toFixed(1)}" y="${y + 12}">${ratio.toFixed(2)}×</text>`,
    ].join('\n')
  })
  return picture(WIDTH, height, [
    `<text x="10" y="20" font-size="13">Keyspec against its peers: so many times better; the black mark is the target</text>`,
    `<line x1="${x(1).toFixed(1)}" x2="${x(1).toFixed(1)}" y1="32" y2="${height - 8}" stroke="#999"/>`,
    ...parts,
  ])
}

interface Bar {
  readonly name: string
  readonly ratio: number
  readonly target: number
  readonly met: boolean
}

function barsOf({ job, verdicts }: Summary): Bar[] {
  return verdicts.map(({ case: name, best, ratio, atLeast, met }) => ({
    name: `${job}: ${name} / ${best}`,
    ratio: ratio.median,
    target: atLeast,
    met,
  }))
}

/** Those that compare with a peer; where less is better, how many times less. */
function barsOfTrial({ trial, verdicts }: TrialSummary): Bar[] {
  return verdicts.flatMap(({ case: name, figure, best, value, atLeast, atMost, met }) => {
    const target = atLeast ?? (atMost === undefined ? undefined : 1 / atMost)
    if (best === undefined || target === undefined) return []
    const ratio = atLeast === undefined ? 1 / value.median : value.median
    const { label } = trial.figures[figure]!
    return [{ name: `${trial.name}: ${name}, ${label} / ${best}`, ratio, target, met }]
  })
}
