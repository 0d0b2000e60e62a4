import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { jobNamed, jobNames } from '../jobs.ts'
import type { Measured } from '../measure.ts'
import type { Tried } from '../try.ts'
import { trialNamed, trialNames } from '../trials.ts'
import { chart } from './chart.ts'
import { type Circumstances, jobSection } from './markdown.ts'
import { summarise } from './summary.ts'
import { trialSection } from './trial-markdown.ts'
import { summariseTrial } from './trial-summary.ts'

/** What was measured, by the name of the job or trial, each with the circumstances of its own run. */
export interface Results {
  readonly [name: string]: {
    readonly made: Circumstances
    readonly measured?: readonly Measured[]
    readonly tried?: readonly Tried[]
  }
}

/** What the results come to, in words and as a picture. */
export async function report(results: Results): Promise<{ readonly markdown: string; readonly svg: string }> {
  const lines = [
    '# Side by side',
    '',
    'Made by `npm run bench`. Each section says when and how it was measured; only the ratios travel to other machines.',
  ]
  const jobs = []
  for (const name of jobNames) {
    const { made, measured } = results[name] ?? {}
    if (made === undefined || measured === undefined) continue
    const job = await jobNamed(name)
    const summary = summarise(job, measured)
    jobs.push(summary)
    lines.push(...jobSection(job, summary, made))
  }
  const trials = []
  for (const name of trialNames) {
    const { made, tried } = results[name] ?? {}
    if (made === undefined || tried === undefined) continue
    const summary = summariseTrial(await trialNamed(name), tried)
    trials.push(summary)
    lines.push(...trialSection(summary, made))
  }
  return { markdown: `${lines.join('\n')}\n`, svg: chart(jobs, trials) }
}

const folder = join(import.meta.dirname, '../..')

/** Keeps results beside those of other jobs that were kept before, in place of their own. */
export async function keep(results: Results): Promise<void> {
  const file = join(folder, 'results.json')
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : {}
  const all = { ...before, ...results }
  const { markdown, svg } = await report(all)
  writeFileSync(file, `${JSON.stringify(all)}\n`)
  writeFileSync(join(folder, 'RESULTS.md'), markdown)
  writeFileSync(join(folder, 'ratios.svg'), svg)
}
