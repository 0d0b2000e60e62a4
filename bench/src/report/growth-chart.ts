import type { Spread } from './summary.ts'
import { escaped, picture } from './svg.ts'
import { head } from './trial-markdown.ts'
import type { TrialSummary } from './trial-summary.ts'

const COLUMNS = 2
const [WIDTH, HEIGHT] = [430, 260]
const [LEFT, RIGHT, TOP, BOTTOM] = [70, 40, 52, 44]
const COLORS = ['#2e7d32', '#c25e00', '#1565c0', '#6a1b9a']
/** What grows by more than this has a logarithmic scale. */
const MUCH = 20

/** How the figures of trials grow, a panel for each: sizes on a logarithmic scale, medians as lines, the least and the most as bars. */
export function growthChart(trials: readonly TrialSummary[]): string {
  const panels = trials.flatMap(panelsOf)
  const drawn = panels.map((panel, index) => {
    const [x, y] = [(index % COLUMNS) * WIDTH, Math.floor(index / COLUMNS) * HEIGHT]
    return `<g transform="translate(${x},${y})">\n${drawing(panel)}\n</g>`
  })
  return picture(COLUMNS * WIDTH, Math.ceil(panels.length / COLUMNS) * HEIGHT, drawn)
}

interface Panel {
  readonly title: string
  readonly across: string
  readonly up: string
  readonly lines: readonly { readonly label: string; readonly points: readonly Point[] }[]
}

interface Point {
  readonly size: number
  readonly value: Spread
}

function panelsOf({ trial, cases }: TrialSummary): Panel[] {
  const { grows } = trial
  if (grows === undefined) return []
  const linesOf = (figure: string) =>
    Object.entries(trial.contenders).flatMap(([contender, { label }]) => {
      const points = cases.flatMap(({ name, rows }) => {
        const value = rows.find((row) => row.contender === contender)?.figures[figure]
        return value === undefined ? [] : [{ size: grows.sizes[name]!, value }]
      })
      return points.length === 0 ? [] : [{ label, points }]
    })
  return grows.drawn
    .map((figure) => ({
      title: trial.name,
      across: grows.by,
      up: head(trial.figures[figure]!),
      lines: linesOf(figure),
    }))
    .filter(({ lines }) => lines.length > 0)
}

function drawing({ title, across, up, lines }: Panel): string {
  const points = lines.flatMap((line) => line.points)
  const sizes = [...new Set(points.map(({ size }) => size))]
  const values = points.flatMap(({ value }) => [value.min, value.max])
  const x = scale(logarithmic, Math.min(...sizes), Math.max(...sizes), LEFT, WIDTH - RIGHT)
  const axis = axisOf(values)
  const y = scale(axis.by, axis.ticks[0]!, axis.ticks.at(-1)!, HEIGHT - BOTTOM, TOP)
  const middle = (TOP + HEIGHT - BOTTOM) / 2
  return [
    `<text x="${LEFT}" y="18" font-size="13">${escaped(title)}</text>`,
    ...axis.ticks.flatMap((tick) => [
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(tick)}" y2="${y(tick)}" stroke="#ddd"/>`,
      `<text x="${LEFT - 6}" y="${y(tick) + 4}" text-anchor="end">${short(tick)}</text>`,
    ]),
    ...sizes.map(
      (size) =>
        `<text x="${x(size)}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${size.toLocaleString('en')}</text>`,
    ),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 10}" text-anchor="middle">${escaped(across)}</text>`,
    `<text transform="translate(16,${middle}) rotate(-90)" text-anchor="middle">${escaped(up)}</text>`,
    ...lines.map(({ label, points }, index) => {
      const color = COLORS[index % COLORS.length]!
      const at = LEFT + index * 170
      return [
        `<rect x="${at}" y="28" width="10" height="10" fill="${color}"/>`,
        `<text x="${at + 15}" y="37">${escaped(label)}</text>`,
        `<polyline points="${points.map(({ size, value }) => `${x(size)},${y(value.median)}`).join(' ')}" fill="none" stroke="${color}" stroke-width="2"/>`,
        ...points.map(
          ({ size, value }) =>
            `<line x1="${x(size)}" x2="${x(size)}" y1="${y(value.min)}" y2="${y(value.max)}" stroke="${color}"/>` +
            `<circle cx="${x(size)}" cy="${y(value.median)}" r="3" fill="${color}"/>`,
        ),
      ].join('\n')
    }),
  ].join('\n')
}

type By = (value: number) => number
const linear: By = (value) => value
const logarithmic: By = (value) => Math.log10(value)

/** The scale that shows values of some spread, and where it has lines; its first and last are the ends of the axis. */
function axisOf(values: readonly number[]): { readonly by: By; readonly ticks: readonly number[] } {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  if (least > 0 && most / least > MUCH) {
    const [from, to] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))]
    return { by: logarithmic, ticks: Array.from({ length: to - from + 1 }, (_, at) => 10 ** (from + at)) }
  }
  const rough = (most || 1) / 4
  const unit = 10 ** Math.floor(Math.log10(rough))
  const step = unit * [1, 2, 5, 10].find((times) => times * unit >= rough)!
  return { by: linear, ticks: Array.from({ length: Math.ceil(most / step) + 1 }, (_, at) => at * step) }
}

/** Where a value stands between two ends, in tenths of a pixel. */
function scale(by: By, least: number, most: number, from: number, to: number): (value: number) => number {
  const span = by(most) - by(least) || 1
  return (value) => Math.round((from + ((by(value) - by(least)) / span) * (to - from)) * 10) / 10
}

function short(value: number): string {
  return value.toLocaleString('en', { notation: 'compact' })
}
