import { expect, test } from 'vitest'
import type { Trial, Tried } from '../trial.ts'
import { growthChart } from './growth-chart.ts'
import { summariseTrial } from './trial-summary.ts'

const sizes = { '10 rows': 10, '1,000 rows': 1000 }
const trial: Trial = {
  name: 'rows',
  about: '',
  figures: { tookMs: { label: 'time', unit: 'ms' }, peakMB: { label: 'peak memory', unit: 'MB' } },
  cases: Object.keys(sizes),
  grows: { by: 'rows', sizes, drawn: ['tookMs', 'peakMB'] },
  contenders: { ours: { label: 'Ours', run: async () => undefined } },
  targets: [
    { case: '1,000 rows', figure: 'peakMB', ours: 'ours', againstCase: '10 rows', atMost: 1.3 },
    { case: '1,000 rows', figure: 'tookMs', ours: 'ours', againstCase: '10 rows', atMost: 50 },
  ],
}
const tried: Tried[] = [
  { contender: 'ours', case: '10 rows', figures: { tookMs: 5, peakMB: 100 } },
  { contender: 'ours', case: '1,000 rows', figures: { tookMs: 600, peakMB: 120 } },
]

test('a target may hold a figure against itself in another case', () => {
  expect(summariseTrial(trial, tried).verdicts).toMatchObject([
    { met: true, value: { median: 1.2 } },
    { met: false, value: { median: 120 } },
  ])
  expect(summariseTrial(trial, tried.slice(1)).verdicts).toEqual([])
})

test('every drawn figure has a panel with its axes, sizes and contenders', () => {
  const svg = growthChart([summariseTrial(trial, tried)])
  for (const text of ['time, ms', 'peak memory, MB', 'rows', '10', '1,000', 'Ours'])
    expect(svg.match(new RegExp(`>${text}<`, 'g'))?.length).toBeGreaterThan(0)
  expect(svg.match(/<polyline/g)).toHaveLength(2)
  expect(svg).not.toContain('NaN')
})

test('what grows much is drawn on a logarithmic scale, what does not from nothing', () => {
  const svg = growthChart([summariseTrial(trial, tried)])
  const [time, memory] = svg.split('<g ').slice(1)
  const ticks = (panel = '') => [...panel.matchAll(/text-anchor="end">([^<]+)</g)].map(([, tick]) => tick)
  expect(ticks(time)).toEqual(['1', '10', '100', '1K'])
  expect(ticks(memory)).toEqual(['0', '50', '100', '150'])
})

test('one size alone, or none, is drawn without a gap in the numbers', () => {
  expect(growthChart([summariseTrial(trial, tried.slice(0, 1))])).not.toMatch(/NaN|Infinity/)
  expect(growthChart([summariseTrial(trial, [])])).not.toMatch(/NaN|Infinity|<g /)
})
