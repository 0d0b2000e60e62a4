import { expect, test } from 'vitest'
import { connected } from '../../../../../test-support/connected.ts'
import { getOrLoadAtLayout1 } from '../../../../../test-support/layout-1/cache.ts'
import { text } from '../../codec/text.ts'
import { LoadFailedError } from '../../errors.ts'
import { open } from '../../keyspace.ts'
import { unique } from '../../testing/index.ts'
import { sleep } from '../../timer.ts'
import { cache } from './cache.ts'

const { redis, connection } = await connected()
const { connection: another } = await connected(redis)
const { connection: third } = await connected(redis)

const schema = { page: cache('page:<id>', text, { ttl: '1m' }) }

/** One entry as two programs of layout 2 and two of layout 1 load it, and how many loads ran at once. */
function bothLayouts(answers: readonly (string | undefined | Error)[]) {
  const prefix = `${unique()}:`
  let loads = 0
  let running = 0
  let most = 0
  const load = async () => {
    const answer = answers[Math.min(loads, answers.length - 1)]
    loads += 1
    running += 1
    most = Math.max(most, running)
    await sleep(30)
    running -= 1
    if (answer instanceof Error) throw answer
    return answer
  }
  const newer = [another, third].map((each) => open(schema, each, { prefix }).page({ id: 1 }))
  const callers = [
    ...newer.map((entry) => () => entry.getOrLoad(load)),
    ...[1, 2].map(() => () => getOrLoadAtLayout1(connection, `${prefix}page:1`, load)),
  ]
  const lock = () => redis.command('GET', `${prefix}lock:page:1`)
  return { callers, lock, counts: () => ({ loads, most }) }
}

test('callers of layouts 1 and 2 share one load', async () => {
  const { callers, lock, counts } = bothLayouts(['value'])
  const values = await Promise.all([...callers, ...callers].map((call) => call()))
  expect(values).toEqual(values.map(() => 'value'))
  expect(counts()).toEqual({ loads: 1, most: 1 })
  // A caller that finds the value once it has the lock gives the lock back without waiting for that.
  await expect.poll(lock).toBeNull()
})

test.each([
  ['an absence', undefined],
  ['a failure', new Error('out of order')],
])(
  '%s that layout 2 leaves in the lock only holds layout 1 up, and loads stay one at a time',
  async (_, first) => {
    const { callers, lock, counts } = bothLayouts([first, first, 'value'])
    const [newest] = callers
    const led = newest!().catch((error: unknown) => error)
    const values = await Promise.all([led, ...callers.map((call) => call().catch((error: unknown) => error))])
    // Each caller gets what some load gave: a program of layout 1 never takes the outcome for a value.
    for (const value of values)
      expect(
        value === 'value' || value === first || (first !== undefined && value instanceof LoadFailedError),
      ).toBe(true)
    expect(counts().most).toBe(1)

    // The next calls of both find or load the value.
    for (const call of callers) await call().catch(() => undefined)
    expect(await Promise.all(callers.map((call) => call()))).toEqual(callers.map(() => 'value'))
    // A caller that finds the value once it has the lock gives the lock back without waiting for that.
    await expect.poll(lock).toBeNull()
  },
)
