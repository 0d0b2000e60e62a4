import { EventEmitter } from 'node:events'
import { describe, expect, test } from 'vitest'
import { clientOf } from '../client-of.ts'
import { type Connection, NO_KEY, ONE_KEY, ONE_KEY_BYTES } from '../connection.ts'
import {
  fromNodeRedis,
  fromNodeRedisCluster,
  fromNodeRedisSentinel,
  type NodeRedisClient,
  subscriberFromNodeRedis,
} from './node-redis.ts'

interface Options {
  timeout?: number | undefined
  typeMapping?: Record<number, unknown>
  abortSignal?: { aborted: boolean; addEventListener: unknown }
}

const outcome = (sent: Promise<unknown>) =>
  sent.then(
    (reply) => ({ reply }),
    (error: { code?: string; cause?: unknown }) => ({ code: error.code, cause: error.cause, error }),
  )

/** A node of a cluster that writes down what it is asked, and answers with its name. */
class FakeNode {
  readonly name: string
  readonly asked: { words: string; options: Options | undefined }[] = []
  answer: () => Promise<unknown> = async () => this.name

  constructor(name: string) {
    this.name = name
  }

  sendCommand(args: readonly (string | Buffer)[], options?: object): Promise<unknown> {
    this.asked.push({ words: args.join(' '), options })
    return this.answer()
  }
}

class FakeCluster {
  masters: FakeNode[]
  readonly asked: { key: unknown; isReadonly: boolean | undefined; words: string; options: Options }[] = []
  answer: () => Promise<unknown> = async () => 'cluster'

  constructor(names: readonly string[]) {
    this.masters = names.map((name) => new FakeNode(name))
  }

  async nodeClient(node: FakeNode): Promise<FakeNode> {
    return node
  }

  sendCommand(
    key: string | Buffer | undefined,
    isReadonly: boolean | undefined,
    args: readonly (string | Buffer)[],
    options?: object,
  ): Promise<unknown> {
    this.asked.push({ key, isReadonly, words: args.join(' '), options: options as Options })
    return this.answer()
  }
}

describe('over a cluster', () => {
  test('a command with a key goes to the master of its slot, with the key as it came', async () => {
    const cluster = new FakeCluster(['a', 'b'])
    const connection = fromNodeRedisCluster(cluster)
    expect([connection.client, connection.cluster]).toEqual(['node-redis', true])
    expect(await connection.send(['GET', 'k'], ONE_KEY)).toBe('cluster')
    const bytes = Uint8Array.of(0xff)
    cluster.answer = async () => Buffer.from('v')
    expect(await connection.send(['GET', bytes], ONE_KEY_BYTES)).toEqual(Buffer.from('v'))
    expect(cluster.asked.map(({ key, isReadonly }) => [key, isReadonly])).toEqual([
      ['k', false],
      [Buffer.from(bytes), false],
    ])
  })

  test('asks for text or bytes, without a timer of the client', async () => {
    const cluster = new FakeCluster(['a'])
    const connection = fromNodeRedisCluster(cluster)
    await connection.send(['GET', 'k'], ONE_KEY)
    cluster.answer = async () => null
    await connection.send(['GET', 'k'], ONE_KEY_BYTES)
    const [text, bytes] = cluster.asked.map(({ options }) => options)
    expect(text).toEqual({
      timeout: undefined,
      typeMapping: { 44: String, 40: String, 37: Array, 126: Array },
    })
    expect(bytes!.typeMapping).toEqual({ ...text!.typeMapping, 36: Buffer, 43: Buffer, 61: Buffer })
    expect('timeout' in bytes! && bytes.timeout).toBe(undefined)
  })

  test('commands without a key go to each master in turn, and never to the cluster, which would add them up', async () => {
    const cluster = new FakeCluster(['a', 'b'])
    const connection = fromNodeRedisCluster(cluster)
    const replies = []
    for (let n = 0; n < 5; n += 1) replies.push(await connection.send(['DBSIZE'], NO_KEY))
    expect(replies).toEqual(['a', 'b', 'a', 'b', 'a'])
    expect(cluster.asked).toEqual([])
    expect(cluster.masters[0]!.asked[0]!.options).toMatchObject({ timeout: undefined })
  })

  test('without any master known, the cluster finds one', async () => {
    const cluster = new FakeCluster([])
    expect(await fromNodeRedisCluster(cluster).send(['PING'], NO_KEY)).toBe('cluster')
    expect(cluster.asked).toMatchObject([{ key: undefined, isReadonly: false, words: 'PING' }])
  })

  test('its masters are connections of their own', async () => {
    const cluster = new FakeCluster(['a', 'b'])
    const masters = await fromNodeRedisCluster(cluster).masters()
    expect(masters.map(({ client, cluster }) => [client, cluster])).toEqual([
      ['node-redis', true],
      ['node-redis', true],
    ])
    expect(await masters[1]!.send(['DBSIZE'], NO_KEY)).toBe('b')
    expect(await masters[1]!.masters()).toEqual([masters[1]])
  })

  test('a redirection that it gave up to follow is about to pass', async () => {
    const cluster = new FakeCluster(['a'])
    const moved = () => Promise.reject(new Error('MOVED 1 127.0.0.1:7000'))
    cluster.answer = moved
    cluster.masters[0]!.answer = moved
    const connection = fromNodeRedisCluster(cluster)
    expect(await outcome(connection.send(['GET', 'k'], ONE_KEY))).toMatchObject({ code: 'E_NOT_READY' })
    expect(await outcome(connection.send(['PING'], NO_KEY))).toMatchObject({ code: 'E_NOT_READY' })
  })

  test('clients of node-redis 5 are kept in order, those that come later too', () => {
    /** A client of node-redis 5 in as much as it is told to pause. */
    const five = () => {
      const events = new EventEmitter()
      const calls: string[] = []
      const client = {
        on: (event: string, listener: () => void) => events.on(event, listener),
        withCommandOptions: (options: object) => ({ _commandOptions: options }),
        _pause: () => calls.push('pause'),
        _unpause: () => calls.push('go on'),
      }
      return { events, calls, client }
    }
    const [first, replica, later, six] = [five(), five(), five(), five()]
    six.client.withCommandOptions = () => ({}) as never // a copy of what it was given
    const cluster = Object.assign(new FakeCluster([]), {
      events: new EventEmitter(),
      on: (event: string, listener: () => void) => void cluster.events.on(event, listener),
      replicas: [{ client: replica.client }, { client: six.client }],
    })
    const masters: { client?: object }[] = [{ client: first.client }, {}]
    cluster.masters = masters as never
    fromNodeRedisCluster(cluster)
    fromNodeRedisCluster(cluster)
    masters[1]!.client = later.client
    cluster.events.emit('node-ready')
    cluster.events.emit('node-ready')
    expect(cluster.events.listenerCount('node-ready')).toBe(1)
    for (const { events, calls } of [first, replica, later]) {
      events.emit('reconnecting')
      events.emit('connect')
      expect(calls).toEqual(['pause', 'go on'])
    }
    six.events.emit('reconnecting')
    expect([six.calls, six.events.eventNames()]).toEqual([[], []])
  })

  test('other clients are refused', () => {
    expect(() => fromNodeRedisCluster(new FakeNode('a') as never)).toThrow(
      'this client has no nodeClient: Keyspec needs a cluster client of node-redis 5 or 6',
    )
    expect(() => fromNodeRedisCluster({ nodeClient: async () => new FakeNode('a') } as never)).toThrow(
      'this client has no sendCommand: Keyspec needs a cluster client of node-redis 5 or 6',
    )
  })
})

describe('over a sentinel', () => {
  /** A sentinel that makes attempts as node-redis does: another one after each error, three at most. */
  function fake(answers: (() => Promise<unknown>)[]) {
    const node = new FakeNode('master')
    const attempts: (boolean | undefined)[] = []
    node.answer = () => answers.shift()!()
    const signals: Options['abortSignal'][] = []
    const send = node.sendCommand.bind(node)
    node.sendCommand = (args, options) => {
      signals.push((options as Options).abortSignal)
      return send(args, options)
    }
    return {
      node,
      attempts,
      signals,
      sentinel: {
        async _execute(isReadonly: boolean | undefined, attempt: (client: FakeNode) => Promise<unknown>) {
          for (;;) {
            attempts.push(isReadonly)
            try {
              return await attempt(node)
            } catch (error) {
              if (attempts.length === 3) throw error
            }
          }
        },
      },
    }
  }

  /** Writes a command to the socket, as node-redis tells its ticket. */
  const written = (signals: readonly unknown[]) =>
    (signals.at(-1) as { removeEventListener(): void }).removeEventListener()

  test('a command goes to the master, and is a connection to it', async () => {
    const { sentinel, attempts, node } = fake([async () => 'v'])
    const connection = fromNodeRedisSentinel(sentinel)
    expect(await connection.send(['GET', 'k'], ONE_KEY)).toBe('v')
    expect(attempts).toEqual([false])
    expect(node.asked.map(({ words }) => words)).toEqual(['GET k'])
    expect([connection.client, connection.cluster, await connection.masters()]).toEqual([
      'node-redis',
      false,
      [connection],
    ])
    expect(clientOf(connection)).toBe(sentinel)
  })

  test('what was not written is attempted again, and what may have been applied is not', async () => {
    const lost = new Error('Socket closed unexpectedly')
    const unwritten = fake([() => Promise.reject(lost), async () => 'v'])
    expect(await fromNodeRedisSentinel(unwritten.sentinel).send(['INCR', 'k'], ONE_KEY)).toBe('v')
    expect(unwritten.attempts).toHaveLength(2)

    const sent = fake([
      () => {
        written(sent.signals)
        return Promise.reject(lost)
      },
    ])
    const told = await outcome(fromNodeRedisSentinel(sent.sentinel).send(['INCR', 'k'], ONE_KEY))
    expect(told).toMatchObject({ code: 'E_UNKNOWN_OUTCOME', cause: lost })
    expect(sent.attempts).toHaveLength(1)
  })

  test('what the server refused is attempted again: it was not applied', async () => {
    const refused = fake([
      () => {
        written(refused.signals)
        return Promise.reject(new Error('READONLY You can’t write against a read only replica.'))
      },
      async () => 'v',
    ])
    expect(await fromNodeRedisSentinel(refused.sentinel).send(['INCR', 'k'], ONE_KEY)).toBe('v')
    expect(refused.attempts).toHaveLength(2)
  })

  test('other clients are refused, each with the way out', () => {
    expect(() =>
      fromNodeRedisSentinel({ _execute: async () => 1, nodeClient: async () => 1 } as never),
    ).toThrow('this client is a cluster’s: give it to fromNodeRedisCluster()')
    expect(() => fromNodeRedisSentinel(new FakeNode('a') as never)).toThrow(
      'this client has no _execute: Keyspec needs a sentinel of node-redis 5 or 6',
    )
  })
})

describe('over one client', () => {
  /** A client that is as ready as the test says, and keeps its queue. */
  function fake(isReady?: boolean) {
    const asked: Options[] = []
    const client: NodeRedisClient & { isReady?: boolean; answer: () => Promise<unknown> } = {
      ...(isReady === undefined ? {} : { isReady }),
      answer: async (): Promise<unknown> => 'v',
      sendCommand(_args: readonly unknown[], options?: object): Promise<unknown> {
        asked.push(options as Options)
        return client.answer()
      },
    }
    return { client, asked }
  }

  test.each([
    ['nodeClient', 'this client is a cluster’s: give it to fromNodeRedisCluster()'],
    ['_execute', 'this client is a sentinel’s: give it to fromNodeRedisSentinel()'],
    [
      'execute',
      'this client is a pool, whose connections let commands on one key overtake each other: give a client by itself',
    ],
    ['callBuffer', 'this client is of ioredis: give it to fromIoredis()'],
    ['then', 'this is a promise of a client: await it, as Keyspec needs a client of node-redis 5 or 6'],
  ])('one that has %s is refused, with the way out', (method, words) => {
    expect(() => fromNodeRedis({ ...fake(true).client, [method]: () => {} })).toThrow(words)
  })

  test('has a ticket in the queue only while there is no connection', async () => {
    const { client, asked } = fake(false)
    const connection = fromNodeRedis(client)
    await connection.send(['GET', 'k'], ONE_KEY)
    client.isReady = true
    await connection.send(['GET', 'k'], ONE_KEY)
    const without = fake()
    await fromNodeRedis(without.client).send(['GET', 'k'], ONE_KEY)
    expect([...asked, ...without.asked].map(({ abortSignal }) => abortSignal !== undefined)).toEqual([
      true,
      false,
      false,
    ])
    expect(await connection.masters()).toEqual([connection])
    expect(connection.cluster).toBe(false)
  })

  test.each([
    ['The client is closed', 'E_NOT_SENT'],
    ['The client is offline', 'E_NOT_SENT'],
    ['The queue is full', 'E_NOT_SENT'],
    ['Say: The client is closed', 'E_UNKNOWN_OUTCOME'],
    ['The client is closed by its server', 'E_UNKNOWN_OUTCOME'],
  ])('“%s” is %s', async (words, code) => {
    const { client } = fake(true)
    client.answer = () => Promise.reject(new Error(words))
    expect(await outcome(fromNodeRedis(client).send(['GET', 'k'], ONE_KEY))).toMatchObject({ code })
  })

  test('is noted as the client itself, though another object over the same socket is given', () => {
    const { client } = fake(true)
    const typed: Connection = fromNodeRedis({ ...client, _self: client } as never)
    expect(clientOf(typed)).toBe(client)
    expect(clientOf(fromNodeRedis(client))).toBe(client)
  })

  test('options are given once where raw commands heed them, and with each call where they do not', async () => {
    const made: object[] = []
    const heeding = (keepsObject: boolean) => {
      const { client, asked } = fake(true)
      return {
        asked,
        client: {
          ...client,
          withCommandOptions: (options: object) => {
            made.push(options)
            return {
              ...(keepsObject ? { _commandOptions: options } : {}),
              sendCommand: (args: readonly string[], more?: object) =>
                client.sendCommand(args, { by: 'told', ...more }),
            }
          },
        },
      }
    }
    const six = heeding(false)
    await fromNodeRedis(six.client).send(['GET', 'k'], ONE_KEY)
    expect(six.asked).toEqual([{ by: 'told' }])
    const five = heeding(true)
    await fromNodeRedis(five.client).send(['GET', 'k'], ONE_KEY)
    expect(five.asked).toMatchObject([{ timeout: undefined, typeMapping: { 44: String } }])
  })
})

test('a subscriber knows each listener by itself, and stops its own', async () => {
  const listening: [string, (message: string) => void][] = []
  const subscriber = subscriberFromNodeRedis({
    subscribe: async (channel, listener) => void listening.push([channel, listener]),
    unsubscribe: async (channel, listener) => {
      const at = listening.findIndex(([its, heard]) => its === channel && heard === listener)
      if (at < 0) throw new Error('nobody listens so')
      listening.splice(at, 1)
    },
  })
  const heard: string[] = []
  const hear = (message: string) => heard.push(message)
  const stop = await subscriber.subscribe('c', hear)
  await subscriber.subscribe('c', hear)
  expect(new Set(listening.map(([, listener]) => listener)).size).toBe(2)
  for (const [, listener] of listening) listener('1')
  await stop()
  for (const [, listener] of listening) listener('2')
  expect(heard).toEqual(['1', '1', '2'])
})
