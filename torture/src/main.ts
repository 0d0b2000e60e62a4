import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Crew } from './crew.ts'
import { faults } from './fault/faults.ts'
import { lineOf } from './history.ts'
import { isKnownBroken } from './model/known-broken.ts'
import type { Violation } from './model/model.ts'
import { PLANTS } from './plant/plants.ts'
import { type Result, runTorture } from './run.ts'
import { TOPOLOGIES } from './topology/topologies.ts'

const given = optionsOf({
  minutes: { type: 'string', default: '1' },
  seconds: { type: 'string' },
  seed: { type: 'string', default: `${Math.floor(Math.random() * 1e9)}` },
  topology: { type: 'string', default: Object.keys(TOPOLOGIES).join() },
  faults: { type: 'string' },
  plant: { type: 'string', default: '' },
  keep: { type: 'boolean', default: false },
} as const)

const seed = whole('seed', given.seed)
const ms =
  given.seconds === undefined
    ? 60_000 * number('minutes', given.minutes)
    : 1000 * number('seconds', given.seconds)
const names = known('topology', given.topology, Object.keys(TOPOLOGIES))
const plants = given.plant === 'all' ? PLANTS : known('plant', given.plant, PLANTS)
const drawn =
  given.faults === undefined
    ? faults
    : given.faults === 'none'
      ? []
      : known(
          'faults',
          given.faults,
          faults.map(({ name }) => name),
        ).map((name) => faults.find((fault) => fault.name === name)!)

const folder = mkdtempSync(join(tmpdir(), 'keyspec-torture-'))
let crew: Crew | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    // The servers end with this process.
    crew?.kill()
    rmSync(folder, { recursive: true, force: true })
    process.exit(130)
  })

say(`seed ${seed}${plants.length === 0 ? '' : `, planted: ${plants.join(', ')}`}`)
let broken = 0
try {
  for (const name of names) broken += await torture(name)
} finally {
  crew?.kill()
}
if (broken > 0 || given.keep) say(`The histories are in ${folder}`)
else rmSync(folder, { recursive: true })
say(broken === 0 ? 'Every promise held.' : `${broken} promises were broken: run again with --seed ${seed}`)
process.exit(broken === 0 ? 0 : 1)

/** Returns how many promises were broken that are not known to be. */
async function torture(name: string): Promise<number> {
  say(`${name}: starting`)
  const own = join(folder, `${name}-server`)
  mkdirSync(own)
  const topology = await TOPOLOGIES[name]!({ folder: own, say: (line) => say(`${name}: ${line}`) })
  if ('skipped' in topology) {
    say(`${name}: skipped: ${topology.skipped}`)
    return 0
  }
  try {
    const started = (next: Crew) => (crew = next)
    return print(name, await runTorture(topology, { seed, ms, faults: drawn, plants, folder, say, started }))
  } finally {
    crew?.kill()
    await topology.stop()
  }
}

function print(name: string, { operations, unknown, faults, violations }: Result): number {
  const counts = Array.from(faults, ([fault, count]) => `${fault} ${count}`).sort()
  say(`${name}: ${operations} operations, ${unknown} of unknown outcome`)
  say(`${name}: faults: ${counts.join(', ') || 'none'}`)
  let broken = 0
  for (const [invariant, found] of violations) {
    const isKnown = isKnownBroken(name, invariant)
    if (!isKnown) broken += 1
    say(`${name}: ${isKnown ? 'known to be broken' : 'VIOLATION'}: ${invariant}, ${found.length} times`)
    for (const violation of found.slice(0, 3)) show(violation)
  }
  return broken
}

function show({ what, ops }: Violation): void {
  say(`    ${what}`)
  for (const op of ops.slice(0, 6)) say(`      ${lineOf(op)}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function known(option: string, text: string, all: readonly string[]): string[] {
  const chosen = text.split(',').filter((name) => name !== '')
  const wrong = chosen.find((name) => !all.includes(name))
  if (wrong !== undefined) stop(`--${option} ${wrong}: must be of ${all.join(', ')}`)
  return chosen
}

function number(option: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) stop(`--${option} ${text}: must be a number above 0`)
  return value
}

function whole(option: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) stop(`--${option} ${text}: must be a whole number`)
  return value
}

function stop(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

/** The options of the command line. One that is unknown or incomplete ends the process with its name and exit code 2. */
function optionsOf<const O extends NonNullable<Parameters<typeof parseArgs>[0]>['options'] & {}>(options: O) {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(2)
  }
}
