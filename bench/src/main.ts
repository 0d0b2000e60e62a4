import { cpus } from 'node:os'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { jobNamed, jobNames } from './jobs.ts'
import { measure } from './measure.ts'
import { pin, unpin } from './pin.ts'
import { keep, report, type Results } from './report/report.ts'
import { startServer } from './server.ts'
import { tryAll } from './try.ts'
import { trialNamed, trialNames } from './trials.ts'

const { values, positionals } = parsed({
  options: {
    quick: { type: 'boolean', default: false },
    huge: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    'round-ms': { type: 'string' },
  },
  allowPositionals: true,
})

/** `parseArgs`, whose complaints are a line for people. */
function parsed<const C extends ParseArgsConfig>(config: C): ReturnType<typeof parseArgs<C>> {
  try {
    return parseArgs(config)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exit(2)
  }
}

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

let redis = ''
const serverOf = async () => {
  const server = await startServer()
  redis = server.version
  return server
}
const made = () => ({
  date: new Date().toISOString().slice(0, 10),
  node: process.versions.node,
  redis,
  cpu: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
  pinned: core !== undefined,
  rounds,
  roundMs,
  quick: values.quick,
})
const results: { -readonly [name in keyof Results]: Results[name] } = {}
for (const name of wanted.filter((each) => jobNames.includes(each))) {
  const measured = await measure(await jobNamed(name), serverOf, { rounds, roundMs, core, log })
  results[name] = { made: made(), measured }
}

// What these start may run wherever the system puts it.
unpin(process.pid)
for (const name of wanted.filter((each) => trialNames.includes(each))) {
  const tried = await tryAll(await trialNamed(name), {
    rounds: values.quick ? 1 : rounds,
    quick: values.quick,
    huge: values.huge,
    core,
    startServer: serverOf,
    log,
  })
  results[name] = { made: made(), tried }
}

process.stdout.write((await report(results)).markdown)
// A quick look is no result to keep, unless it is asked for.
if (!values.quick || values.keep) await keep(results)
