import { cpus } from 'node:os'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { jobNamed, jobNames } from './jobs.ts'
import { measure, WARM_ROUNDS } from './measure.ts'
import { ONE_CORE, pin, type Place, TWO_CORES, unpin } from './pin.ts'
import { profile } from './profile/profile.ts'
import { missed, named } from './profile/wanted.ts'
import { profileSection } from './report/profile-markdown.ts'
import { keep, kept, report, type Results } from './report/report.ts'
import { startServer } from './server.ts'
import { tryAll } from './try.ts'
import { trialNamed, trialNames } from './trials.ts'

const { values, positionals } = parsed({
  options: {
    quick: { type: 'boolean', default: false },
    huge: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    'one-core': { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    case: { type: 'string' },
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
    return stop((error as Error).message)
  }
}

function stop(complaint: string): never {
  process.stderr.write(`${complaint}\n`)
  process.exit(2)
}

const rounds = Number(values.rounds ?? (values.quick ? 3 : 7))
// A profile needs samples, and has one round.
const roundMs = Number(values['round-ms'] ?? (values.quick ? 250 : values.profile ? 4000 : 1000))
const all = values.profile ? jobNames : [...jobNames, ...trialNames]
const wanted = positionals.length === 0 ? all : positionals
const wrong = wanted.find((name) => !all.includes(name))
if (wrong !== undefined)
  stop(`there is no job${values.profile ? '' : ' and no trial'} "${wrong}"; there are ${all.join(', ')}`)
if (!(rounds >= 1) || !(roundMs > 0)) stop('--rounds and --round-ms take numbers above 0')
if (values.case !== undefined && !values.profile) stop('--case says what --profile is of')

const log = (line: string) => process.stderr.write(`${line}\n`)
const places = placesHere()

/** All that this machine allows and nobody left out. */
function placesHere(): readonly [Place, ...Place[]] {
  if (!pin(process.pid, cpus().length - 1)) {
    log('nothing can be pinned here: the system chooses the cores, and nothing is measured on two')
    return [{}]
  }
  if (values['one-core']) return [ONE_CORE]
  if (cpus().length > 1) return [ONE_CORE, TWO_CORES]
  log('this machine has one core: nothing is measured on two')
  return [ONE_CORE]
}

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
  pinned: places[0].cores !== undefined,
  rounds,
  roundMs,
  quick: values.quick,
})
const results: { -readonly [name in keyof Results]: Results[name] } = {}
if (values.profile) await profileAll()
else await measureAll()

/** Keeps each as it ends, so that a run that is cut off loses one. A quick look is no result to keep, unless it is asked for. */
async function note(name: string, result: Results[string]): Promise<void> {
  results[name] = result
  if (!values.quick || values.keep) await keep({ [name]: result })
}

async function measureAll(): Promise<void> {
  for (const name of wanted.filter((each) => jobNames.includes(each))) {
    const measured = await measure(await jobNamed(name), serverOf, {
      rounds,
      roundMs,
      warmRounds: values.quick ? 2 : WARM_ROUNDS,
      places,
      log,
    })
    await note(name, { made: made(), measured })
  }

  // What these start may run wherever the system puts it.
  unpin(process.pid)
  for (const name of wanted.filter((each) => trialNames.includes(each))) {
    const tried = await tryAll(await trialNamed(name), {
      rounds: values.quick ? 1 : rounds,
      quick: values.quick,
      huge: values.huge,
      core: places[0].client,
      startServer: serverOf,
      log,
    })
    await note(name, { made: made(), tried })
  }
  process.stdout.write((await report(results)).markdown)
}

/** Beside what was kept of each job, which says what is worth it. */
async function profileAll(): Promise<void> {
  for (const name of wanted) {
    const job = await jobNamed(name)
    const before = kept()[name]
    const these =
      values.case === undefined
        ? missed(job, before?.measured ?? [], places)
        : named(job, values.case, places[0])
    if (these.length === 0) {
      log(`${name}: ${values.case === undefined ? 'no target is missed in what was kept' : 'no such case'}`)
      continue
    }
    const profiled = await profile(job, these, serverOf, { roundMs, log })
    await note(name, { made: made(), ...before, profile: { made: made(), profiled } })
    process.stdout.write(`${profileSection(job, profiled, made()).join('\n')}\n`)
  }
}
