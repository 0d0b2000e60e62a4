import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { ClientName, Order, Sample, Told } from './actor/order.ts'
import type { Random } from './random.ts'
import type { Topology, Way } from './topology/topology.ts'

/** One actor: a child process. */
export interface Actor {
  readonly order: Order
  readonly way: Way
  readonly child: ChildProcess
  tell(told: Told): void
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
}

/** The actors of a run. */
export interface Crew {
  readonly actors: readonly Actor[]
  /** The last words of actors that ended by themselves, which no actor should. */
  readonly complaints: readonly string[]
  /** Kills an actor with SIGKILL and starts another like it. */
  replace(actor: Actor): Promise<void>
  /** Asks each actor for a sample. */
  samples(): Promise<ReadonlyMap<string, Sample>>
  /** Lets the actors finish what they are at, then ends them. */
  stop(): Promise<void>
  /** Kills all actors at once. */
  kill(): void
}

const STOP_WITHIN_MS = 20_000

/** The settings of a crew. */
export interface CrewOptions {
  /** The folder for the histories. */
  readonly folder: string
  readonly random: Random
  readonly plants: readonly string[]
  /** Is given the crew before its first actor starts, so that it can be killed at any time. */
  readonly started: (crew: Crew) => void
}

/** Starts an actor for each client, and a worker. */
export async function startCrew(topology: Topology, options: CrewOptions): Promise<Crew> {
  const { folder, random, plants, started: told } = options
  const actors = new Set<Actor>()
  const complaints: string[] = []
  let started = 0

  async function start(client: ClientName, role: Order['role'], way: Way): Promise<void> {
    started += 1
    const name = `${role === 'all' ? 'a' : 'w'}${started}-${client}`
    const order: Order = {
      name,
      client,
      role,
      address: way.address,
      history: join(folder, `${name}.jsonl`),
      seed: random.whole(0, 2 ** 31),
      plants,
    }
    const program = join(import.meta.dirname, 'actor.js')
    const child = spawn(process.execPath, ['--expose-gc', program, JSON.stringify(order)], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    let words = ''
    child.stderr?.on('data', (chunk: Buffer) => (words = (words + chunk.toString()).slice(-4000)))
    const actor: Actor = {
      order,
      way,
      child,
      tell: (told) => void (child.connected && child.send(told)),
      signal: (signal) => void child.kill(signal),
    }
    actors.add(actor)
    child.once('exit', (code, signal) => {
      actors.delete(actor)
      if (signal !== 'SIGKILL' && code !== 0)
        complaints.push(`${name} ended with ${signal ?? code}. ${words}`)
    })
    const ready = once(child, 'message')
    await Promise.race([ready, once(child, 'exit')])
    if (!actors.has(actor) && child.signalCode !== 'SIGKILL')
      throw new Error(`${name} did not start. ${words}`)
  }

  const crew = crewOf()
  told(crew)
  const ways = topology.clients.map((client) => [client, 'all'] as const)
  const all = [...ways, [random.pick(topology.clients), 'worker'] as const]
  await Promise.all(all.map(async ([client, role]) => start(client, role, await topology.connect())))

  return crew

  function crewOf(): Crew {
    return {
      get actors() {
        return [...actors]
      },
      complaints,
      async replace(actor) {
        const { client, role } = actor.order
        const ended = once(actor.child, 'exit')
        actor.child.kill('SIGKILL')
        await ended
        await start(client, role, actor.way)
      },
      async samples() {
        const found = new Map<string, Sample>()
        await Promise.all(
          Array.from(actors, async (actor) => {
            const answer = once(actor.child, 'message', { signal: AbortSignal.timeout(5000) }).catch(() => [])
            actor.tell({ tell: 'sample' })
            const [message] = (await answer) as [{ sample?: Sample }?]
            if (message?.sample !== undefined) found.set(actor.order.name, message.sample)
          }),
        )
        return found
      },
      async stop() {
        await Promise.all(
          Array.from(actors, async (actor) => {
            const ended = once(actor.child, 'exit')
            actor.tell({ tell: 'stop' })
            const timer = setTimeout(() => actor.child.kill('SIGKILL'), STOP_WITHIN_MS)
            await ended
            clearTimeout(timer)
          }),
        )
      },
      kill() {
        for (const { child } of actors) child.kill('SIGKILL')
      },
    }
  }
}
