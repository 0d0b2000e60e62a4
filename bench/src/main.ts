import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { jobNamed, jobNames } from './jobs.ts'
import { measure } from './measure.ts'
import { pin, unpin } from './pin.ts'
import { chart } from './report/chart.ts'
import { markdown } from './report/markdown.ts'
import { summarise, type Summary } from './report/summary.ts'
import { trialMarkdown } from './report/trial-markdown.ts'
import { summariseTrial, type TrialSummary } from './report/trial-summary.ts'
import { startServer } from './server.ts'
import { tryAll } from './try.ts'
import { trialNamed, trialNames } from './trials.ts'

const { values, positionals } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    huge: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    'round-ms': { type: 'string' },
  },
  allowPositionals: true,
})
const rounds = Number(values.rounds ?? (values.quick ? 3 : 7))
const roundMs = Number(values['round-ms'] ?? (values.quick ? 250 : 1000))
const all = [...jobNames, ...trialNames]
const wanted = positionals.length === 0 ? all : positionals
const wrong = wanted.find((name) => !all.includes(name))
if (wrong !== undefined || !(rounds >= 1) || !(roundMs > 0)) {
  const said =
    wrong === undefined
      ? '--rounds and --round-ms take numbers above 0'
      : `there is no job and no trial "${wrong}"`
  process.stderr.write(`${said}; there are ${all.join(', ')}\n`)
  process.exit(2)
}
const core = pin(process.pid, cpus().length - 1) ? 0 : undefined
const log = (line: string) => process.stderr.write(`${line}\n`)

const jobs = []
const summaries: Summary[] = []
const raw: Record<string, unknown> = {}
let redis = ''
const serverOf = async () => {
  const server = await startServer()
  redis = server.version
  return server
}
for (const name of wanted.filter((each) => jobNames.includes(each))) {
  const job = await jobNamed(name)
  const results = await measure(job, serverOf, { rounds, roundMs, core, log })
  jobs.push(job)
  summaries.push(summarise(job, results))
  raw[name] = results
}

// What these start may run wherever the system puts it.
unpin(process.pid)
const tried: TrialSummary[] = []
for (const name of wanted.filter((each) => trialNames.includes(each))) {
  const trial = await trialNamed(name)
  const results = await tryAll(trial, {
    rounds: values.quick ? 1 : rounds,
    quick: values.quick,
    huge: values.huge,
    core,
    startServer: serverOf,
    log,
  })
  tried.push(summariseTrial(trial, results))
  raw[name] = results
}

const made = {
  date: new Date().toISOString().slice(0, 10),
  node: process.versions.node,
  redis,
  cpu: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
  pinned: core !== undefined,
  rounds,
  roundMs,
}
const report = markdown(jobs, summaries, made) + trialMarkdown(tried)
process.stdout.write(report)
// A part of the jobs, or a quick look, is no result to keep.
if (positionals.length === 0 && !values.quick) {
  const folder = join(import.meta.dirname, '..')
  writeFileSync(join(folder, 'RESULTS.md'), report)
  writeFileSync(join(folder, 'results.json'), `${JSON.stringify({ made, results: raw }, undefined, 1)}\n`)
  writeFileSync(join(folder, 'ratios.svg'), chart(summaries, tried))
}
