import { expect, test } from 'vitest'
import {
  ALL_KEYS,
  type Command,
  type Connection,
  NO_KEY,
  ONE_KEY,
  type Reply,
  type Shape,
  type Merge,
} from '../connection.ts'
import { GET, GET_BYTES } from './reads.ts'
import { tick } from './tick.ts'

/** A port that notes what is sent over it, in its order, and answers everything alike. */
function recording(): { readonly connection: Connection; readonly sent: string[] } {
  const sent: string[] = []
  const connection: Connection = {
    client: 'recording',
    cluster: false,
    async send(command): Promise<Reply> {
      sent.push(command.map(String).join(' '))
      return command[0] === 'MGET' ? command.slice(1).map(() => 'v') : 'v'
    },
    masters: async () => [connection],
  }
  return { connection, sent }
}

/** How a script goes out: calls of one key as one command. */
function script(): Merge {
  return {
    most: 10,
    group: (call) => call[1] as string,
    sendOne: (connection, call) => connection.send(call, ONE_KEY),
    async send(connection, calls) {
      const command: Command = [...calls[0]!.slice(0, 2), ...calls.map((call) => call[2]!)]
      const reply = await connection.send(command, ONE_KEY)
      return calls.map(() => ({ reply }))
    },
  }
}
const take: Shape = { ...ONE_KEY, merge: script() }
const pour: Shape = { firstKey: 1, keyCount: 2, merge: { ...script(), neighbours: true } }

const shapes: Readonly<Record<string, Shape>> = {
  GET,
  TAKE: take,
  POUR: pour,
  SET: ONE_KEY,
  DEL: ALL_KEYS,
  PING: NO_KEY,
  PUBLISH: NO_KEY,
}

test.each<[rule: string, asked: string, sent: string]>([
  [
    'a command without a key does not overtake a waiting write',
    'TAKE a 1, TAKE a 2, PING',
    'TAKE a 1, TAKE a 2, PING',
  ],
  ['nor many', 'TAKE a 1, TAKE a 2, TAKE a 3, PUBLISH c m', 'TAKE a 1, TAKE a 2 3, PUBLISH c m'],
  [
    'nor writes of several scripts',
    'TAKE a 1, POUR b c, TAKE a 2, POUR b d, PING',
    'TAKE a 1, POUR b c, TAKE a 2, POUR b d, PING',
  ],
  ['it leaves reads to wait', 'GET a, GET b, GET c, PING', 'GET a, PING, MGET b c'],
  [
    'a write of another key leaves a waiting write',
    'TAKE a 1, TAKE a 2, SET b x',
    'TAKE a 1, SET b x, TAKE a 2',
  ],
  [
    'a write does not overtake a waiting write of its key',
    'TAKE a 1, TAKE a 2, SET a x',
    'TAKE a 1, TAKE a 2, SET a x',
  ],
  ['nor one of its last key', 'TAKE a 1, TAKE a 2, DEL b c a', 'TAKE a 1, TAKE a 2, DEL b c a'],
  ['nor that of another script', 'TAKE a 1, TAKE a 2, POUR b a', 'TAKE a 1, TAKE a 2, POUR b a'],
  ['nor does a read', 'TAKE a 1, TAKE a 2, GET a', 'TAKE a 1, TAKE a 2, GET a'],
  ['a read before a write is sent before it, and once', 'GET a, GET b, SET b x', 'GET a, GET b, SET b x'],
  ['and the others without it', 'GET a, GET b, GET c, GET d, SET c x', 'GET a, GET c, SET c x, MGET b d'],
  ['though it was asked twice', 'GET a, GET b, GET b, SET b x, GET c', 'GET a, GET b, GET b, SET b x, GET c'],
  ['and of several keys', 'GET a, GET b, GET c, DEL b c', 'GET a, GET b, GET c, DEL b c'],
  [
    'one behind the write goes behind it',
    'GET a, GET b, SET b x, GET b, GET c',
    'GET a, GET b, SET b x, MGET b c',
  ],
  ['once more', 'GET a, GET b, SET b x, GET b, SET b y', 'GET a, GET b, SET b x, GET b, SET b y'],
  ['before a script too', 'GET a, GET b, TAKE b 1', 'GET a, GET b, TAKE b 1'],
])('%s', async (_, asked, told) => {
  const { connection, sent } = recording()
  const ticked = tick(connection)
  const replies = asked.split(', ').map((words) => {
    const command = words.split(' ')
    return ticked.send(command, shapes[command[0]!]!)
  })
  await Promise.all(replies)
  expect(sent.join(', ')).toBe(told)
})

test('a key is the same as text and as bytes', async () => {
  const { connection, sent } = recording()
  const ticked = tick(connection)
  await Promise.all([
    ticked.send(['GET', 'a'], GET_BYTES),
    ticked.send(['GET', 'é'], GET_BYTES),
    ticked.send(['SET', Buffer.from('é'), 'x'], ONE_KEY),
  ])
  expect(sent).toEqual(['GET a', 'GET é', 'SET é x'])
})
