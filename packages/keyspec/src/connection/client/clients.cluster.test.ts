import { afterAll, beforeAll, describe, test } from 'vitest'
import {
  clusterConnections,
  type Opened,
  sentinelConnections,
  type Way,
} from '../../../../../test-support/connections.ts'
import {
  type Cluster,
  type Sentinels,
  startCluster,
  startSentinels,
} from '../../../../../test-support/index.ts'
import { connectionSuite } from '../../testing/connection-suite.ts'

describe('cluster', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startCluster()
  })
  afterAll(() => cluster.stop())

  describe.each(clusterConnections)('%s', (_name, open) => {
    suiteOver(open, () => cluster)
  })
})

describe('sentinel', () => {
  let sentinels: Sentinels
  beforeAll(async () => {
    sentinels = await startSentinels()
  })
  afterAll(() => sentinels.stop())

  describe.each(sentinelConnections)('%s', (_name, open) => {
    suiteOver(open, () => sentinels)
  })
})

function suiteOver<Server>(open: Way<Server>[1], server: () => Server): void {
  let opened: Opened
  beforeAll(async () => {
    opened = await open(server())
  })
  afterAll(() => opened.close())

  connectionSuite(test, () => opened.connection)
}
