export { startCluster, type Cluster } from './cluster.ts'
export { startProxy, type Proxy } from './proxy.ts'
export { startSentinels, type Sentinels } from './sentinel.ts'
