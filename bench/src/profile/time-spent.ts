import type { Profiler } from 'node:inspector'
import { type Owner, placeOf, type Whereabouts } from './place-of.ts'

/** Where the time of a process went, in percent of all samples. */
export interface TimeSpent {
  readonly shares: { readonly [owner in Owner]?: number }
  /** The functions that took most themselves, without those they called. */
  readonly functions: readonly TopFunction[]
}

/** One function, and its part. */
export interface TopFunction {
  readonly name: string
  readonly file: string
  readonly share: number
}

const TOP = 12

/** Sums up a profile by whose code it was in, and by function. Each sample counts the same, as a process that waits for its core is not sampled. */
export function timeSpent({ nodes }: Profiler.Profile): TimeSpent {
  const parents = new Map(
    nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)),
  )
  const all = nodes.reduce((sum, { hitCount = 0 }) => sum + hitCount, 0)
  const shares: { [owner in Owner]?: number } = {}
  const functions = new Map<string, TopFunction>()
  for (const node of nodes) {
    if (!node.hitCount) continue
    const share = (node.hitCount / all) * 100
    const { owner, file } = nearest(node, parents)
    shares[owner] = (shares[owner] ?? 0) + share
    if (owner === 'idle' || owner === 'garbage collector') continue
    const name = node.callFrame.functionName || '(anonymous)'
    const before = functions.get(`${name} ${file}`)?.share ?? 0
    functions.set(`${name} ${file}`, { name, file, share: before + share })
  }
  const top = [...functions.values()].toSorted((a, b) => b.share - a.share).slice(0, TOP)
  return { shares, functions: top }
}

/** Where a node stands, or else the next that called it. */
function nearest(
  node: Profiler.ProfileNode,
  parents: ReadonlyMap<number, Profiler.ProfileNode>,
): Whereabouts {
  for (let at: Profiler.ProfileNode | undefined = node; at !== undefined; at = parents.get(at.id)) {
    const place = placeOf(at.callFrame)
    if (place !== undefined) return place
  }
  return { owner: 'Node', file: 'native' }
}
