import type { Summary } from './summary.ts'

const ROW = 22
const LEFT = 360
const WIDTH = 860

/** The ratios as bars, on a logarithmic scale, each with a mark where its target is. */
export function chart(summaries: readonly Summary[]): string {
  const bars = summaries.flatMap(({ job, verdicts }) => verdicts.map((verdict) => ({ job, ...verdict })))
  const most = Math.max(2, ...bars.map(({ ratio, atLeast }) => Math.max(ratio.median, atLeast)))
  const least = Math.min(0.5, ...bars.map(({ ratio }) => ratio.median))
  const x = (ratio: number) =>
    LEFT + ((Math.log(ratio) - Math.log(least)) / (Math.log(most) - Math.log(least))) * (WIDTH - LEFT - 70)
  const height = bars.length * ROW + 50
  const parts = bars.map(({ job, case: name, best, ratio, atLeast, met }, index) => {
    const y = 40 + index * ROW
    const [from, to] = [Math.min(x(1), x(ratio.median)), Math.max(x(1), x(ratio.median))]
    return [
      `<text x="${LEFT - 10}" y="${y + 12}" text-anchor="end">${escaped(`${job}: ${name} / ${best}`)}</text>`,
      `<rect x="${from.toFixed(1)}" y="${y + 2}" width="${Math.max(1, to - from).toFixed(1)}" height="13" fill="${met ? '#2e7d32' : '#c62828'}"/>`,
      `<line x1="${x(atLeast).toFixed(1)}" x2="${x(atLeast).toFixed(1)}" y1="${y}" y2="${y + 17}" stroke="#111" stroke-width="2"/>`,
      `<text x="${(to + 6).toFixed(1)}" y="${y + 12}">${ratio.median.toFixed(2)}×</text>`,
    ].join('\n')
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="10" y="20" font-size="13">Keyspec against its peers: operations a second as a ratio; the black mark is the target</text>`,
    `<line x1="${x(1).toFixed(1)}" x2="${x(1).toFixed(1)}" y1="32" y2="${height - 8}" stroke="#999"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
