import { describe, expect, test } from 'vitest'
import type { Connection, Reply } from '../connection/connection.ts'
import { integerReply } from '../connection/reply.ts'
import { ServerError } from '../connection/server-error.ts'
import { unique } from '../testing/index.ts'
import { flag, int, rest, serverNow, text, times } from './argument.ts'
import { script } from './script.ts'

/** A port that notes what is sent over it, without texts and digests, and answers as the test says. */
function recording(answer: (name: string) => Promise<Reply> = async () => 7) {
  const sent: string[][] = []
  const connection: Connection = {
    client: 'recording',
    cluster: false,
    masters: async () => [connection],
    send(command) {
      const [name, , ...words] = command.map(String)
      sent.push([name!, ...words])
      return answer(name!)
    },
  }
  return { connection, sent }
}

/** A script that no server knows yet. */
const fresh = <A extends object>(args: A) =>
  script('test/sent', {
    keys: ['key'],
    args: args as never,
    commands: [],
    lua: `return 7 -- ${unique()}`,
    reply: integerReply,
  })

describe('arguments at the end that say what is meant without them do not travel', () => {
  test.each<[given: object, words: readonly string[]]>([
    [{ by: 1, wake: false, now: undefined, by2: 1 }, ['1']],
    [{ by: 1, wake: false, now: undefined, by2: 2 }, ['1', '0', '', '2']],
    [{ by: 1, wake: false, now: 5, by2: 1 }, ['1', '0', '5']],
    [{ by: 1, wake: true, now: undefined, by2: 1 }, ['1', '1']],
    [{ by: 0, wake: false, now: undefined, by2: 1 }, ['0']],
    [{ by: 0, wake: true, now: 0, by2: 2 }, ['0', '1', '0', '2']],
  ])('%j', async (given, words) => {
    const { connection, sent } = recording()
    const made = fresh({ by: int, wake: flag, now: serverNow, by2: times })
    expect(await made.run(connection, { key: 'k' }, given as never)).toBe(7)
    expect(sent).toEqual([['EVAL', '1', 'k', ...words]])
  })

  test('but never one that always says something, though it reads the same', async () => {
    const { connection, sent } = recording()
    await fresh({ wake: flag, words: text }).run(connection, { key: 'k' }, {
      wake: false,
      words: '',
    } as never)
    await fresh({ wake: flag, by: int }).run(connection, { key: 'k' }, { wake: false, by: 0 } as never)
    await fresh({ wake: flag, all: rest }).run(connection, { key: 'k' }, { wake: false, all: ['0'] } as never)
    expect(sent.map((words) => words.slice(3))).toEqual([
      ['0', ''],
      ['0', '0'],
      ['0', '0'],
    ])
  })
})

describe('a script that the server has lost', () => {
  test('is sent again once, and any other error is told at once', async () => {
    const made = fresh({ by: int })
    const { connection, sent } = recording(async (name) => {
      if (name === 'EVALSHA') throw new ServerError('NOSCRIPT No matching script', 'EVALSHA', 'k')
      return 7
    })
    const run = (over: Connection) => made.run(over, { key: 'k' }, { by: 1 } as never)
    await run(connection)
    await run(connection)
    expect(sent.map(([name]) => name)).toEqual(['EVAL', 'EVALSHA', 'EVAL'])

    for (const error of [new ServerError('LOADING the dataset', 'EVALSHA', 'k'), new Error('lost')]) {
      const failing = recording(async (name) => {
        if (name === 'EVALSHA') throw error
        return 7
      })
      await run(failing.connection)
      await expect(run(failing.connection)).rejects.toBe(error)
      expect(failing.sent.map(([name]) => name)).toEqual(['EVAL', 'EVALSHA'])
    }
  })
})
