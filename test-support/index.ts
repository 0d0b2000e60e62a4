export { startCluster, type Cluster, type SlotMove } from './cluster.ts'
export { startProxy, type Direction, type Proxy } from './proxy.ts'
export { startSentinels, type Sentinels } from './sentinel.ts'
