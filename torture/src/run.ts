import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { recorderOf } from './actor/record.ts'
import { pause } from './clock.ts'
import { type Crew, startCrew } from './crew.ts'
import { drain } from './drain.ts'
import type { Fault, Scene } from './fault/fault.ts'
import { readFinal } from './final.ts'
import { type Op, readHistories, succeeded } from './history.ts'
import { judgeUsage, type Usage } from './model/flat.ts'
import type { Loss } from './model/losses.ts'
import type { Violation } from './model/model.ts'
import { models } from './model/models.ts'
import { windowsOf } from './model/quota-exact.ts'
import { randomOf } from './random.ts'
import type { Topology } from './topology/topology.ts'

const TRIED_WITHIN_MS = 30_000

/** How a topology is tortured. */
export interface RunOptions {
  readonly seed: number
  readonly ms: number
  readonly faults: readonly Fault[]
  readonly plants: readonly string[]
  /** The folder for the histories. */
  readonly folder: string
  readonly say: (line: string) => void
  /** Is told of the actors, so that they can be killed if the harness must end. */
  readonly started: (crew: Crew) => void
}

/** The result of a run. */
export interface Result {
  readonly operations: number
  readonly unknown: number
  /** How often each fault happened. */
  readonly faults: ReadonlyMap<string, number>
  readonly violations: ReadonlyMap<string, readonly Violation[]>
}

/** Runs all recipes over a topology, breaks things until the time is over, and judges what happened. */
export async function runTorture(topology: Topology, options: RunOptions): Promise<Result> {
  const { seed, ms, plants, say } = options
  const folder = join(options.folder, topology.name)
  mkdirSync(folder, { recursive: true })
  const random = randomOf(seed)
  const { started } = options
  const crew = await startCrew(topology, { folder, random: randomOf(seed + 1), plants, started })
  const losses: Loss[] = []
  const scene: Scene = {
    topology,
    crew,
    random,
    folder,
    record: recorderOf(join(folder, 'harness.jsonl'), 120_000),
    plants,
    clockWentBack: false,
    deadlinesWent: false,
    lose: (loss) => losses.push(loss),
  }
  const possible = options.faults.filter(
    ({ possible, needsMs = 0 }) => needsMs <= ms && (possible?.(topology) ?? true),
  )
  const counts = new Map<string, number>()
  const complaints: string[] = []
  const usages: Usage[] = []
  const until = performance.now() + ms
  await pause(Math.min(1500, ms / 4))
  usages.push(await usageOf(scene))
  let deck: Fault[] = []
  while (performance.now() < until) {
    // Each fault once before any comes again.
    if (deck.length === 0) deck = random.shuffled(possible)
    const fault = deck.pop()
    if (fault !== undefined) {
      counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1)
      await fault.inflict(scene).catch((error: unknown) => complaints.push(`${fault.name}: ${String(error)}`))
    }
    await pause(random.whole(100, 600))
  }
  await pause(500)
  await untilTried(folder)
  usages.push(await usageOf(scene))
  await crew.stop()
  await drain(topology, { repairs: scene.deadlinesWent })
  losses.push(...(topology.unasked ?? []))
  const ops = readHistories(folder)
  const counted = ops.filter(({ recipe }) => ['balance', 'hits', 'tally'].includes(recipe))
  const final = await readFinal(topology.ask, {
    numbers: new Set(counted.map(({ recipe, key }) => `${recipe}:${key}`)),
    windows: windowsOf(ops),
  })
  const violations = new Map<string, readonly Violation[]>()
  const add = (invariant: string, found: readonly Violation[]) => {
    if (found.length > 0) violations.set(invariant, found)
  }
  for (const model of models) add(model.invariant, model.judge({ ops, losses, final }))
  add('flat', judgeUsage(usages))
  add(
    'alive',
    [...complaints, ...crew.complaints, ...untried(ops)].map((what) => ({ what, ops: [] })),
  )
  for (const { cause, from, to } of losses) say(`  excused: ${cause} at ${from.toFixed(0)}..${to.toFixed(0)}`)
  return {
    operations: ops.length,
    unknown: ops.filter(({ outcome }) => 'lost' in outcome).length,
    faults: counts,
    violations,
  }
}

/** Lets the actors work undisturbed until each verb has succeeded, as few are tried in a short run on a busy machine. */
async function untilTried(folder: string): Promise<void> {
  const until = performance.now() + TRIED_WITHIN_MS
  while (performance.now() < until && untried(readHistories(folder)).length > 0) await pause(500)
}

/** Returns a complaint for each verb that never succeeded: of such a verb the run proves nothing. */
function untried(ops: readonly Op[]): string[] {
  const verbs = new Map<string, boolean>()
  for (const op of ops) {
    const verb = `${op.recipe}.${op.verb}`
    // Asked for only after a lost answer.
    if (verb !== 'queue.held') verbs.set(verb, verbs.get(verb) === true || succeeded(op))
  }
  return [...verbs].filter(([, isTried]) => !isTried).map(([verb]) => `${verb} never succeeded`)
}

async function usageOf({ topology, crew }: Scene): Promise<Usage> {
  const counts = await Promise.all(
    topology.servers.map(async (server) => {
      const list = String(await server.command('CLIENT', 'LIST', 'TYPE', 'normal'))
      return list.trim().split('\n').length
    }),
  )
  return { actors: await crew.samples(), clients: counts.reduce((sum, count) => sum + count, 0) }
}
