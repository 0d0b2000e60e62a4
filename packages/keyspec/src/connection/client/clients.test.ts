import { afterAll, beforeAll, describe, test } from 'vitest'
import { connections, type Opened } from '../../../../../test-support/connections.ts'
import { connectionSuite } from '../../testing/connection-suite.ts'
import { startRedis, type TemporaryRedis } from '../../testing/index.ts'

let redis: TemporaryRedis
beforeAll(async () => {
  redis = await startRedis({ port: 'any' })
})
afterAll(() => redis.stop())

describe.each(connections)('%s', (_name, open) => {
  let opened: Opened
  beforeAll(async () => {
    opened = await open(redis)
  })
  afterAll(() => opened.close())

  connectionSuite(test, () => opened.connection)
})
