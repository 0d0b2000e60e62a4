import { expect, test } from 'vitest'
import { connected } from '../../../../../test-support/connected.ts'
import { acquireAsBefore, releaseAsBefore } from '../../../../../test-support/layout-1/lock.ts'
import { open } from '../../keyspace.ts'
import { unique } from '../../testing/index.ts'
import { lock } from './lock.ts'

const { redis, connection } = await connected()
const { connection: another } = await connected(redis)

const schema = { lock: lock('lock:{<id>}', { ttl: '1m', fence: 'fence:{<id>}' }) }

test('holders of this version and of the one before exclude each other, and the fence rises with each', async () => {
  const prefix = `${unique()}:`
  const at = Date.UTC(2026, 0, 1)
  // A clock that stands still: fences rise by the number that is stored alone.
  const newer = open(schema, another, { prefix, now: () => at }).lock({ id: 1 })
  const [key, fence] = [`${prefix}lock:{1}`, `${prefix}fence:{1}`]
  const fences: number[] = []
  let holders = 0
  const hold = async (number: number) => {
    fences.push(number)
    holders += 1
    expect(holders).toBe(1)
    await redis.command('PING')
    holders -= 1
  }
  const older = async () => {
    for (let held = 0; held < 25;) {
      const token = crypto.randomUUID()
      const number = await acquireAsBefore(connection, { key, fence, token, now: at })
      if (number === undefined) continue
      held += 1
      await hold(number)
      await releaseAsBefore(connection, key, token)
    }
  }
  const current = async () => {
    for (let held = 0; held < 25;) {
      const answer = await newer.acquire()
      if (!answer.acquired) continue
      held += 1
      await hold(answer.fence)
      expect(await answer.release()).toBe(true)
    }
  }
  await Promise.all([older(), current(), older(), current()])
  expect(fences).toEqual(Array.from({ length: 100 }, (_, n) => at * 1000 + n))
})
