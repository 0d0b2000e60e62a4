import { describe, expect, test } from 'vitest'
import { InTransactionError } from '../../errors.ts'
import {
  ALL_KEYS,
  ALL_KEYS_BYTES,
  type Command,
  NO_KEY,
  ONE_KEY,
  ONE_KEY_BYTES,
  type Reply,
  type Shape,
} from '../connection.ts'
import { ServerError } from '../server-error.ts'
import { inTransaction, outsideTransaction, readsQueued } from './queued.ts'

test('a reply reads as queued if it is that status, as text or as bytes', () => {
  expect(['QUEUED', Buffer.from('QUEUED')].map(readsQueued)).toEqual([true, true])
  const others: Reply[] = [
    'queued',
    'QUEUED ',
    Buffer.from('QUEUES'),
    Buffer.from('QUEUED!'),
    null,
    6,
    ['QUEUED'],
  ]
  for (const other of others) expect(readsQueued(other), String(other)).toBe(false)
})

test('the error names the key, the command and the way out', () => {
  const advice = 'give Keyspec a client of its own, or make the transaction on another'
  const why = 'was queued, since the program began a transaction (MULTI) over the same client'
  expect(inTransaction(['GET', 'k'], ONE_KEY)).toMatchObject({
    message: `k: GET ${why}: ${advice}`,
    key: 'k',
  })
  expect(inTransaction(['PING'], NO_KEY)).toMatchObject({ message: `PING ${why}: ${advice}`, key: undefined })
})

describe('whether a reply that reads QUEUED is a stored text', () => {
  /** Asks as an adapter would, with the answers that the test gives. */
  function asking(answer: (command: Command) => Promise<Reply>) {
    const asked: [Command, Shape][] = []
    const ask = (command: Command, shape: Shape) => {
      asked.push([command, shape])
      return answer(command)
    }
    return { asked, ask }
  }

  test('a command that answers no texts was queued, and nothing is asked', async () => {
    const { asked, ask } = asking(async () => 1)
    for (const command of [
      ['INCR', 'k'],
      ['SET', 'k', 'v'],
      ['MGET', 'k'],
    ] as Command[])
      await expect(outsideTransaction('QUEUED', command, ONE_KEY, ask)).rejects.toBeInstanceOf(
        InTransactionError,
      )
    expect(asked).toEqual([])
  })

  test('GET is read again in an array, as text or as bytes', async () => {
    const { asked, ask } = asking(async () => ['now'])
    expect(await outsideTransaction('QUEUED', ['GET', 'k'], ONE_KEY, ask)).toBe('now')
    expect(await outsideTransaction('QUEUED', ['GET', 'k'], ONE_KEY_BYTES, ask)).toBe('now')
    expect(asked).toEqual([
      [['MGET', 'k'], ALL_KEYS],
      [['MGET', 'k'], ALL_KEYS_BYTES],
    ])
  })

  test.each(
    (
      'GETDEL GETEX GETSET GETRANGE SUBSTR DUMP HGET HRANDFIELD LINDEX LPOP RPOP LMOVE BLMOVE RPOPLPUSH BRPOPLPUSH SPOP ' +
      'SRANDMEMBER ZRANDMEMBER JSON.GET EVAL EVALSHA EVAL_RO EVALSHA_RO FCALL FCALL_RO ECHO CLIENT CONFIG'
    ).split(' '),
  )('%s may answer it: the key is asked for, and the reply stands', async (name) => {
    const { asked, ask } = asking(async () => 0)
    expect(await outsideTransaction('QUEUED', [name, 'k'], ONE_KEY, ask)).toBe('QUEUED')
    expect(asked).toEqual([[['EXISTS', 'k'], ONE_KEY]])
  })

  test('SET with an option may answer it, and a command without a key asks for an answer alone', async () => {
    const { asked, ask } = asking(async () => 'PONG')
    expect(await outsideTransaction('QUEUED', ['SET', 'k', 'v', 'GET'], ONE_KEY, ask)).toBe('QUEUED')
    expect(await outsideTransaction('QUEUED', ['EVAL', 'return ARGV[1]', '0', 'QUEUED'], NO_KEY, ask)).toBe(
      'QUEUED',
    )
    expect(asked).toEqual([
      [['EXISTS', 'k'], ONE_KEY],
      [['PING'], NO_KEY],
    ])
  })

  test('what was asked and queued too says so of the first command', async () => {
    const { ask } = asking((command) => Promise.reject(inTransaction(command, ONE_KEY)))
    await expect(outsideTransaction('QUEUED', ['GETDEL', 'k'], ONE_KEY, ask)).rejects.toThrow(
      'k: GETDEL was queued',
    )
  })

  test('a user who may not ask was answered; without an answer nobody knows', async () => {
    const refused = asking(() => Promise.reject(new ServerError('NOPERM no', 'EXISTS', 'k')))
    expect(await outsideTransaction('QUEUED', ['GETDEL', 'k'], ONE_KEY, refused.ask)).toBe('QUEUED')
    const lost = asking(() => Promise.reject(new Error('lost')))
    await expect(outsideTransaction('QUEUED', ['GETDEL', 'k'], ONE_KEY, lost.ask)).rejects.toThrow('lost')
  })
})
