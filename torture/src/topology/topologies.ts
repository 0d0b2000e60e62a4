import { startClusterTopology } from './cluster.ts'
import { startSecured } from './secured.ts'
import { startSentinelTopology } from './sentinel.ts'
import { startStandalone } from './standalone.ts'
import type { Place, Started } from './topology.ts'

/** Starts each topology. */
export const TOPOLOGIES: Readonly<Record<string, (place: Place) => Promise<Started>>> = {
  standalone: startStandalone,
  secured: startSecured,
  sentinel: startSentinelTopology,
  cluster: startClusterTopology,
}
