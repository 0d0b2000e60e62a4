import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Compiled, compiledLibrary } from '../../../../../test-support/program.ts'
import { startRedis, type TemporaryRedis, unique } from '../../testing/index.ts'

let redis: TemporaryRedis
let library: Compiled

beforeAll(async () => {
  library = compiledLibrary()
  redis = await startRedis()
})

afterAll(async () => {
  library[Symbol.dispose]()
  await redis.stop()
})

test('four processes get exactly the limit, though their clocks are in different hours', async () => {
  const prefix = `${unique()}:`
  const takers = [0, 0, 3_600_000, -3_600_000].map((aheadMs) =>
    library.run(
      `
      const wall = Date.now
      Date.now = () => wall() + given.aheadMs
      const { keyspec: { open, quota, param }, connection } = await lean(given.socket)
      const declared = { limit: 100, mirror: ['counter:<day>'], ttl: '2d', params: { day: param.day } }
      const calls = open({ calls: quota('limit:<day>', declared) }, connection, { prefix: given.prefix }).calls()
      say('ready')
      await told()
      const taken = await Promise.all(Array.from({ length: 60 }, () => calls.take()))
      say({
        admitted: taken.filter(({ allowed }) => allowed).length,
        openings: taken.filter(({ previousUsed }) => previousUsed !== undefined).length,
        names: calls.namesAt(taken[0].window),
      })
      `,
      { prefix, aheadMs, socket: redis.socket },
    ),
  )
  for (const taker of takers) expect(await taker.next()).toBe('ready')
  for (const taker of takers) taker.tell('go')
  const said = (await Promise.all(takers.map((taker) => taker.next()))) as {
    admitted: number
    openings: number
    names: string[]
  }[]
  expect(said.reduce((sum, { admitted }) => sum + admitted, 0)).toBe(100)
  expect(said.reduce((sum, { openings }) => sum + openings, 0)).toBe(1)
  const names = said[0]!.names
  expect(await redis.command('MGET', ...names)).toEqual(['100', '100'])
  for (const name of names) expect(await redis.command('PTTL', name)).toBeGreaterThan(86_400_000)
})
