import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Compiled, compiledLibrary, type Program } from '../../../../../test-support/program.ts'
import { startRedis, type TemporaryRedis, unique } from '../../testing/index.ts'

let redis: TemporaryRedis
let library: Compiled
let takers: Program[]

beforeAll(async () => {
  library = compiledLibrary()
  redis = await startRedis()
  const prefix = `${unique()}:`
  takers = [0, 0, 60_000, -60_000].map((aheadMs) => taker(prefix, aheadMs))
  for (const program of takers) expect(await program.next()).toBe('ready')
})

afterAll(async () => {
  await Promise.all(takers.map((program) => program.kill()))
  library[Symbol.dispose]()
  await redis.stop()
})

/** A process, its clock so far ahead, that takes 50 at once of the limiter it is told, and says how many it got. */
function taker(prefix: string, aheadMs: number): Program {
  return library.run(
    `
    const { keyspec: { open, fixedWindow, slidingWindow }, connection } = await lean(given.socket)
    const wall = Date.now, steady = performance.now.bind(performance)
    Date.now = () => wall() + given.aheadMs
    performance.now = () => steady() + given.aheadMs
    const limits = { per: '1h', limit: 50 }
    const schema = {
      fixed: fixedWindow('fixed:<user>', limits),
      exact: slidingWindow('exact:<user>', limits),
      compact: slidingWindow('compact:<user>', { ...limits, form: 'compact' }),
    }
    const keys = open(schema, connection, { prefix: given.prefix })
    say('ready')
    for (;;) {
      const limiter = keys[await told()]({ user: 1 })
      const taken = await Promise.all(Array.from({ length: 50 }, () => limiter.take()))
      say(taken.filter(({ allowed }) => allowed).length)
    }
    `,
    { prefix, aheadMs, socket: redis.socket },
  )
}

test.each(['fixed', 'exact', 'compact'])(
  'the %s window admits exactly 50 of 200 from four processes at once, whatever their clocks say',
  async (limiter) => {
    const admitted = async () => {
      for (const program of takers) program.tell(limiter)
      const counts = await Promise.all(takers.map((program) => program.next()))
      return (counts as number[]).reduce((sum, count) => sum + count, 0)
    }
    expect(await admitted()).toBe(50)
    // Nor does the process whose clock is ahead see an empty window a moment later.
    expect(await admitted()).toBe(0)
  },
)
