import { describe, expect, test } from 'vitest'
import type { Command, Connection, Outcome, Reply } from '../connection.ts'
import { ServerError } from '../server-error.ts'
import { GET, GET_BYTES, getTogether } from './reads.ts'
import { tick } from './tick.ts'

/** A server that holds what the test says, and writes down what it is asked. */
function holding(stored: Readonly<Record<string, string | { readonly type: string }>>) {
  const asked: string[] = []
  let refuses = false
  const connection: Connection = {
    client: 'recording',
    cluster: false,
    masters: async () => [connection],
    async send(command, shape): Promise<Reply> {
      const [name, ...keys] = command.map(String)
      asked.push(command.map(String).join(' '))
      const value = (key: string): Reply => {
        const found = stored[key]
        if (typeof found !== 'string') return null
        return shape.bytes === true ? Buffer.from(found) : found
      }
      if (name === 'MGET') {
        if (refuses) throw new ServerError('NOPERM No permissions to access a key', 'MGET', keys[0])
        return keys.map(value)
      }
      if (name === 'EXISTS') return keys.filter((key) => stored[key] !== undefined).length
      const found = stored[keys[0]!]
      if (name === 'TYPE')
        return found === undefined ? 'none' : typeof found === 'string' ? 'string' : found.type
      if (typeof found === 'object') throw new ServerError('WRONGTYPE Operation', 'GET', keys[0])
      return value(keys[0]!)
    },
  }
  return {
    connection,
    asked,
    refuse: () => {
      refuses = true
    },
  }
}

const said = (outcomes: readonly Outcome[]) =>
  outcomes.map((outcome) => ('error' in outcome ? (outcome.error as ServerError).code : outcome.reply))
const keysUpTo = (count: number) => Array.from({ length: count }, (_, n) => `k${n}`)
const values = (count: number) => Object.fromEntries(keysUpTo(count).map((key) => [key, `v of ${key}`]))

describe('many keys are read together', () => {
  test.each([
    [1, [1]],
    [128, [128]],
    [129, [128, 1]],
    [256, [128, 128]],
    [300, [128, 128, 44]],
  ])('%i of them in commands of %j keys', async (count, sizes) => {
    const { connection, asked } = holding(values(count))
    expect(said(await getTogether(connection, keysUpTo(count), false))).toEqual(Object.values(values(count)))
    expect(asked.map((words) => words.split(' ').length - 1)).toEqual(sizes)
  })

  test('each once, though it is asked for twice, and bytes are each asker’s own', async () => {
    const { connection, asked } = holding({ a: 'x', b: 'y' })
    const [first, other, again] = said(await getTogether(connection, ['a', 'b', 'a'], true)) as Buffer[]
    expect(asked).toEqual(['MGET a b'])
    expect([first, other, again]).toEqual([Buffer.from('x'), Buffer.from('y'), Buffer.from('x')])
    first![0] = 0
    expect(again).toEqual(Buffer.from('x'))
  })

  test('of those that are nil, one question tells that none is there', async () => {
    const { connection, asked } = holding({ a: 'x' })
    expect(said(await getTogether(connection, ['a', 'b', 'c'], false))).toEqual(['x', null, null])
    expect(asked).toEqual(['MGET a b c', 'EXISTS b c'])
  })

  test('and where one is, its type is an error of its own', async () => {
    const { connection, asked } = holding({ a: 'x', list: { type: 'list' } })
    const outcomes = await getTogether(connection, ['a', 'list', 'c', 'list'], false)
    expect(said(outcomes)).toEqual(['x', 'E_WRONG_TYPE', null, 'E_WRONG_TYPE'])
    expect(outcomes[1]).toMatchObject({
      error: { key: 'list', message: expect.stringContaining('list: GET was refused') },
    })
    expect(asked).toEqual(['MGET a list c', 'EXISTS list c', 'TYPE list', 'TYPE c'])
  })

  test('a string that came meanwhile is absent', async () => {
    const stored: Record<string, string> = {}
    const { connection } = holding(stored)
    const late: Connection = {
      ...connection,
      async send(command, shape) {
        const reply = await connection.send(command, shape)
        stored['a'] = 'late'
        return reply
      },
    }
    expect(said(await getTogether(late, ['a'], false))).toEqual([null])
  })

  test('what refuses many keys is asked for each of them, and another failure is one for all', async () => {
    const { connection, asked, refuse } = holding({ a: 'x', list: { type: 'list' } })
    refuse()
    expect(said(await getTogether(connection, ['a', 'list', 'a'], false))).toEqual(['x', 'E_WRONG_TYPE', 'x'])
    expect(asked).toEqual(['MGET a list', 'GET a', 'GET list', 'GET a'])
    const lost: Connection = { ...connection, send: () => Promise.reject(new Error('lost')) }
    await expect(getTogether(lost, ['a'], false)).rejects.toThrow('lost')
  })
})

describe('reads of one tick', () => {
  const read = (from: number, to: number) => `MGET ${keysUpTo(to).slice(from).join(' ')}`
  test.each([
    [1, ['GET k0']],
    [3, ['GET k0', read(1, 3)]],
    [129, ['GET k0', read(1, 129)]],
    [130, ['GET k0', read(1, 129), 'GET k129']],
    [257, ['GET k0', read(1, 129), read(129, 257)]],
  ])(
    'of %i the first goes out at once, the others in as few commands as can be, none of them empty',
    async (count, sent) => {
      const { connection, asked } = holding(values(count))
      const ticking = tick(connection)
      const replies = await Promise.all(keysUpTo(count).map((key) => ticking.send(['GET', key], GET)))
      expect(replies).toEqual(Object.values(values(count)))
      expect(asked).toEqual(sent)
    },
  )

  test('bytes and text do not mix', async () => {
    const { connection, asked } = holding({ a: 'x', b: 'y' })
    const ticking = tick(connection)
    const asking: Command = ['GET', 'a']
    const replies = await Promise.all([
      // The first of each go out at once.
      ticking.send(['GET', 'c'], GET),
      ticking.send(['GET', 'c'], GET_BYTES),
      ticking.send(asking, GET),
      ticking.send(['GET', 'b'], GET),
      ticking.send(asking, GET_BYTES),
      ticking.send(['GET', 'b'], GET_BYTES),
    ])
    expect(replies).toEqual([null, null, 'x', 'y', Buffer.from('x'), Buffer.from('y')])
    expect(asked).toEqual(['GET c', 'GET c', 'MGET a b', 'MGET a b'])
  })
})
