import { expect, test } from 'vitest'
import { connected } from '../../../../test-support/connected.ts'
import type { Connection } from '../connection/connection.ts'
import { unique } from '../testing/index.ts'
import { moveAcross } from './renaming-across.ts'

// What a move does to its keys is the same on one server as on a cluster, whose slots the cluster tests look at.
const { redis, connection } = await connected()

/** The names of one move, and what stands at each. */
function names() {
  const prefix = `${unique()}:`
  const [from, to] = [`${prefix}old:1`, `${prefix}new:1`]
  const [aside, marker] = [`${prefix}keyspec:moving:{${from}}`, `${prefix}keyspec:moved:{${from}}`]
  const text = (key: string) => redis.command('GET', key)
  const away = () => redis.command('HGET', marker, 'away')
  const move = (over: Connection = connection) => moveAcross(over, prefix, from, to)
  return { from, to, aside, marker, text, away, move }
}

/** A connection that does something between the second step of a move, in the other slot, and the third. */
function before(third: () => Promise<unknown>): Connection {
  let steps = 0
  return {
    ...connection,
    async send(command, shape) {
      const isStep = String(command[0]).startsWith('EVAL')
      if (isStep && (steps += 1) === 3) await third()
      return connection.send(command, shape)
    },
  }
}

test('a key moves with its value and its end, and a note of the move is left beside it', async () => {
  const { from, to, aside, text, away, move } = names()
  await redis.command('SET', from, 'v', 'PX', 60_000)
  const ends = await redis.command('PEXPIRETIME', from)
  expect(await move()).toBe('moved')
  expect([await text(from), await text(to), await text(aside)]).toEqual([null, 'v', null])
  expect(await away()).toMatch(/^[0-9a-f-]{36}$/)
  expect(await redis.command('PEXPIRETIME', to)).toBe(ends)
  expect(await move()).toBe('absent')
})

test('if another value stands at the new name, the key gets its name back', async () => {
  const { from, to, aside, text, move } = names()
  await redis.command('SET', from, 'v', 'PX', 60_000)
  await redis.command('SET', to, 'another')
  expect(await move()).toBe('taken')
  expect([await text(from), await text(to), await text(aside)]).toEqual(['v', 'another', null])
  expect(await redis.command('PTTL', from)).toBeGreaterThan(0)
})

test('if its old name was written meanwhile too, it stays aside for a move of its own, and nothing is lost', async () => {
  const { from, to, aside, text, away, move } = names()
  await redis.command('SET', from, 'v')
  await redis.command('SET', to, 'another')
  expect(await move(before(() => redis.command('SET', from, 'written meanwhile')))).toBe('taken')
  expect([await text(from), await text(to), await text(aside)]).toEqual(['written meanwhile', 'another', 'v'])
  expect(await away()).toBe('')
  // The next move is another one, which what the last one noted does not bind.
  await redis.command('DEL', to)
  expect(await move()).toBe('moved')
  expect([await text(from), await text(to), await text(aside)]).toEqual(['written meanwhile', 'v', null])
})

test('an end that comes too late touches nothing of the move that followed', async () => {
  const { from, to, aside, marker, text, away, move } = names()
  await redis.command('SET', from, 'v')
  await redis.command('SET', to, 'another')
  const late = before(async () => {
    await redis.command('HSET', marker, 'away', 'the token of another move')
  })
  expect(await move(late)).toBe('taken')
  expect([await text(from), await text(aside), await away()]).toEqual([
    null,
    'v',
    'the token of another move',
  ])
})
