import type { Sample } from '../actor/order.ts'
import type { Violation } from './model.ts'

/** The resources of the actors at one moment, by actor, and how many clients the servers count. */
export interface Usage {
  readonly actors: ReadonlyMap<string, Sample>
  readonly clients: number
}

/** How much more of each an actor may use at the end than at its start. */
const MARGIN = { heapBytes: 12_000_000, resources: 12, listeners: 12, clients: 12 }

/** Memory, listeners, timers and connections stay flat. */
export function judgeUsage(usages: readonly Usage[]): Violation[] {
  const [first, last] = [usages[0], usages.at(-1)]
  if (first === undefined || last === undefined || first === last) return []
  const found: Violation[] = []
  if (last.clients > first.clients + MARGIN.clients)
    found.push({ what: `the servers had ${first.clients} clients, then ${last.clients}`, ops: [] })
  for (const [name, after] of last.actors) {
    const before = first.actors.get(name)
    if (before === undefined) continue
    for (const what of ['heapBytes', 'resources', 'listeners'] as const)
      if (after[what] > before[what] + MARGIN[what])
        found.push({ what: `${name}: ${what} went from ${before[what]} to ${after[what]}`, ops: [] })
  }
  return found
}
