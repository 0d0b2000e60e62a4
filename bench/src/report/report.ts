import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { jobNamed, jobNames } from '../jobs.ts'
import type { Measured } from '../measure.ts'
import type { Profiled } from '../profile/profile.ts'
import type { Tried } from '../trial.ts'
import { trialNamed, trialNames } from '../trials.ts'
import { growthChart } from './growth-chart.ts'
import { type Circumstances, jobSection } from './markdown.ts'
import { profileSection } from './profile-markdown.ts'
import { ratioChart } from './ratio-chart.ts'
import { summarise } from './summary.ts'
import { trialSection } from './trial-markdown.ts'
import { summariseTrial, type TrialSummary } from './trial-summary.ts'

/** What was measured, by the name of the job or trial, each with the circumstances of its own run. */
export interface Results {
  readonly [name: string]: {
    readonly made: Circumstances
    readonly measured?: readonly Measured[]
    readonly tried?: readonly Tried[]
    readonly profile?: { readonly made: Circumstances; readonly profiled: readonly Profiled[] }
  }
}

/** What the results come to, in words and as pictures, by the names of their files. */
export interface Report {
  readonly markdown: string
  readonly pictures: { readonly [file: string]: string }
}

/** Tells what results come to. */
export async function report(results: Results): Promise<Report> {
  const lines = [
    '# Side by side',
    '',
    'Made by `npm run bench`. Each section says when and how it was measured; only the ratios travel to other machines.',
  ]
  const jobs = []
  for (const name of jobNames) {
    const { made, measured, profile } = results[name] ?? {}
    if (made === undefined || measured === undefined) continue
    const job = await jobNamed(name)
    const summary = summarise(job, measured)
    jobs.push(summary)
    lines.push(...jobSection(job, summary, made))
    if (profile !== undefined) lines.push(...profileSection(job, profile.profiled, profile.made))
  }
  const trials: TrialSummary[] = []
  for (const name of trialNames) {
    const { made, tried } = results[name] ?? {}
    if (made === undefined || tried === undefined) continue
    const summary = summariseTrial(await trialNamed(name), tried)
    if (grows(summary) && !trials.some(grows))
      lines.push('', '## How it grows', '', '![How figures grow with size](growth.svg)')
    trials.push(summary)
    lines.push(...trialSection(summary, made))
  }
  return {
    markdown: `${lines.join('\n')}\n`,
    pictures: {
      'ratios.svg': ratioChart(jobs, trials),
      ...(trials.some(grows) ? { 'growth.svg': growthChart(trials) } : {}),
    },
  }
}

function grows({ trial }: TrialSummary): boolean {
  return trial.grows !== undefined
}

const folder = join(import.meta.dirname, '../..')

const file = join(folder, 'results.json')

/** The results that were kept. */
export function kept(): Results {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : {}
}

/** Keeps results beside those of other jobs that were kept before, in place of their own. */
export async function keep(results: Results): Promise<void> {
  const all = { ...kept(), ...results }
  const { markdown, pictures } = await report(all)
  writeFileSync(file, `${JSON.stringify(all)}\n`)
  writeFileSync(join(folder, 'RESULTS.md'), markdown)
  for (const [name, svg] of Object.entries(pictures)) writeFileSync(join(folder, name), svg)
}
