import { expect, test } from 'vitest'

import type { Command, Connection, Reply } from '../connection/connection.ts'
import { ServerError } from '../connection/server-error.ts'
import { mergeEqual } from './merge-equal.ts'

// What goes out is the subject here, so that the answers are made up; `script.test.ts` asks a server.
const connection = {} as Connection
const call = (key: string, ...args: string[]): Command => ['EVALSHA', 'sha', '1', key, ...args]

type Sent = { readonly keys: readonly string[]; readonly counts: readonly number[]; readonly args: Command }

function recorded(refuse?: (keys: readonly string[]) => Error | undefined) {
  const sent: Sent[] = []
  function note(keys: readonly string[], counts: readonly number[], command: Command): Reply[] {
    sent.push({ keys, counts, args: command.slice(4) })
    const error = refuse?.(keys)
    if (error !== undefined) throw error
    return keys.map((key, at) => Array.from({ length: counts[at]! }, (_, part) => [key, part]))
  }
  const merge = mergeEqual((reply) => reply as readonly Reply[], {
    sendOne: () => Promise.reject(new Error('a single call takes another way')),
    sendCounted: async (_, one, count) => note([one[3] as string], [count], one)[0]!,
    sendSeveral: async (_, one, keys, counts) => note(keys as string[], counts, one),
  })
  return { sent, send: (...calls: Command[]) => merge.send(connection, calls) }
}

test('equal calls go out as one that names their keys and says how many each is asked for', async () => {
  const { sent, send } = recorded()
  expect(await send(call('a', '1'), call('b', '1'), call('a', '1'), call('a', '1'))).toEqual([
    { reply: ['a', 0] },
    // A call that is alone on its key has the whole answer.
    { reply: [['b', 0]] },
    { reply: ['a', 1] },
    { reply: ['a', 2] },
  ])
  expect(sent).toEqual([{ keys: ['a', 'b'], counts: [3, 1], args: ['1'] }])
})

test('calls with other arguments, or with fewer, go out apart, those on one key in their order', async () => {
  const { sent, send } = recorded()
  const calls = [
    call('a', '1'),
    call('b', '1', '2'),
    call('b', '1'),
    call('a', '1', '2'),
    call('a', '1', '2'),
    call('a', '2', '2'),
    call('a', '2', '2'),
    call('b', '1'),
  ]
  await send(...calls)
  expect(sent.map(({ keys, args, counts }) => `${keys.join()} ${args.join()} ${counts.join()}`)).toEqual([
    'a 1 1',
    'b,a 1,2 1,2',
    'b 1 2',
    'a 2,2 2',
  ])
})

test('at most 32 keys are named at once, and a key that is named takes more calls', async () => {
  const { sent, send } = recorded()
  const keys = Array.from({ length: 33 }, (_, index) => `k${index}`)
  await send(...keys.map((key) => call(key)), call('k0'), call('k32'))
  expect(sent.map((one) => one.keys.length)).toEqual([32, 1])
  expect(sent.map((one) => one.counts[0])).toEqual([2, 2])
})

test('keys of several slots are asked one by one from then on; keys that the user may not touch, only this time', async () => {
  const several = (reply: string) => (keys: readonly string[]) =>
    keys.length > 1 ? new ServerError(reply, 'EVALSHA', keys[0]) : undefined
  const twice = ['a', 'a', 'b', 'b'].map((key) => call(key))

  const crossing = recorded(several("CROSSSLOT Keys in request don't hash to the same slot"))
  const answers = [
    ['a', 0],
    ['a', 1],
    ['b', 0],
    ['b', 1],
  ].map((reply) => ({ reply }))
  expect(await crossing.send(...twice)).toEqual(answers)
  expect(await crossing.send(...twice)).toEqual(answers)
  expect(crossing.sent.map(({ keys }) => keys.join())).toEqual(['a,b', 'a', 'b', 'a', 'b'])

  const denied = recorded(several('NOPERM No permissions to access a key'))
  expect(await denied.send(...twice)).toEqual(answers)
  expect(await denied.send(...twice)).toEqual(answers)
  expect(denied.sent.map(({ keys }) => keys.join())).toEqual(['a,b', 'a', 'b', 'a,b', 'a', 'b'])
})

test('any other refusal is the answer of every call', async () => {
  const error = new ServerError('OOM command not allowed', 'EVALSHA', 'a')
  const { sent, send } = recorded(() => error)
  expect(await send(call('a'), call('b'), call('b'))).toEqual([{ error }, { error }, { error }])
  expect(sent).toHaveLength(1)
})
