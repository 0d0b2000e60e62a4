import { expect, test } from 'vitest'
import { startRedis, type TemporaryRedis } from '../packages/keyspec/src/testing/index.ts'
import { rawStates, stillStates } from './raw-state.ts'

/** A server to which a late command of two keys comes while it is read for the first time: after the names, before the values. */
function disturbed(redis: TemporaryRedis): TemporaryRedis {
  let isLate = false
  return new Proxy(redis, {
    get(target, name) {
      if (name !== 'command') return Reflect.get(target, name) as unknown
      return async (...words: [string, ...(string | number)[]]) => {
        if (words[0] === 'EVAL' && !isLate) {
          isLate = true
          await target.command('MSET', 'a/1', 'after', 'a/2', 'after')
        }
        return target.command(...words)
      }
    },
  })
}

test('a state is read when nothing changes it: all of what came late is seen, or nothing', async () => {
  await using redis = await startRedis()
  const state = async (read: typeof rawStates) => {
    await redis.command('DEL', 'a/2')
    await redis.command('SET', 'a/1', 'before')
    const states = await read(disturbed(redis), ['a/'])
    return [...states.get('a/')!].map(([name, { value }]) => [name, value])
  }
  // Key by key, half of it is.
  expect(await state(rawStates)).toEqual([['1', ['after']]])
  expect((await state(stillStates)).toSorted()).toEqual([
    ['1', ['after']],
    ['2', ['after']],
  ])
})
