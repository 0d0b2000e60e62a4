import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { clientOf } from '../client-of.ts'
import { NO_KEY, ONE_KEY, ONE_KEY_BYTES } from '../connection.ts'
import { fromIoredis, fromIoredisCluster, subscriberFromIoredis } from './ioredis.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

interface Options {
  commandTimeout?: number
  redisOptions?: Options
  keyPrefix?: string
  stringNumbers?: boolean
  replyMapping?: string
}

class Command {
  readonly words: string[]
  pipelineIndex?: number
  constructor(words: readonly unknown[]) {
    this.words = words.map(String)
  }
  toWritable(stream: unknown): string {
    return `${String(stream)} ${this.words.join(' ')}`
  }
}

/** A client of ioredis that sends nothing, and writes down what it was to send. Its methods run on objects made over it. */
class FakeIoredis {
  readonly name: string
  options?: Options
  readonly asked: string[] = []
  readonly commands: Command[] = []
  /** Answers a command; by default with the name of the client. */
  answer: (words: readonly string[]) => Promise<unknown> = async () => this.name

  constructor(name: string) {
    this.name = name
  }

  call(name: string, args: unknown[]): Promise<unknown> {
    return this.sendCommand(new Command([name, ...args]))
  }

  callBuffer(name: string, args: unknown[]): Promise<unknown> {
    return this.sendCommand(new Command(['bytes', name, ...args]))
  }

  sendCommand(command: Command): Promise<unknown> {
    this.asked.push(command.words.join(' '))
    this.commands.push(command)
    return this.answer(command.words)
  }
}

class FakeCluster extends FakeIoredis {
  masters: FakeIoredis[]
  readonly roles: string[] = []
  constructor(masters: readonly string[]) {
    super('cluster')
    this.masters = masters.map((name) => new FakeIoredis(name))
  }
  nodes(role: string): FakeIoredis[] {
    this.roles.push(role)
    return this.masters
  }
}

describe('over a cluster', () => {
  test('a command with a key goes through the cluster, others to each master in turn', async () => {
    const cluster = new FakeCluster(['a', 'b'])
    const connection = fromIoredisCluster(cluster)
    expect(await connection.send(['GET', 'k'], ONE_KEY)).toBe('cluster')
    expect(cluster.asked).toEqual(['GET k'])
    const answers = []
    for (let n = 0; n < 5; n += 1) answers.push(await connection.send(['PING'], NO_KEY))
    expect(answers).toEqual(['a', 'b', 'a', 'b', 'a'])
    expect(new Set(cluster.roles)).toEqual(new Set(['master']))
    expect(cluster.asked).toHaveLength(1)
  })

  test('without any master known, a command waits with the cluster', async () => {
    const cluster = new FakeCluster([])
    const connection = fromIoredisCluster(cluster)
    expect(await connection.send(['PING'], NO_KEY)).toBe('cluster')
    expect(await connection.masters()).toEqual([])
    expect(cluster.asked).toEqual(['PING', 'PING'])
  })

  test('its masters are connections of their own, over the client of each', async () => {
    const cluster = new FakeCluster(['a', 'b'])
    const connection = fromIoredisCluster(cluster)
    expect([connection.client, connection.cluster, connection.dear]).toEqual(['ioredis', true, true])
    const masters = await connection.masters()
    expect(cluster.asked).toEqual([]) // it knows them already
    expect(masters.map(({ client, cluster, dear }) => [client, cluster, dear])).toEqual([
      ['ioredis', true, true],
      ['ioredis', true, true],
    ])
    expect(masters.map(clientOf)).toEqual(cluster.masters)
    expect(await masters[1]!.send(['DBSIZE'], NO_KEY)).toBe('b')
    expect(await masters[1]!.masters()).toEqual([masters[1]])
  })

  test('a redirection that it gave up to follow is about to pass, in the server’s own words', async () => {
    const cluster = new FakeCluster(['a'])
    const moved = async () => {
      throw new Error('Too many Cluster redirections. Last error: ReplyError: MOVED 1 127.0.0.1:7000')
    }
    cluster.answer = moved
    cluster.masters[0]!.answer = moved
    const connection = fromIoredisCluster(cluster)
    const refused = { code: 'E_NOT_READY', reply: 'MOVED 1 127.0.0.1:7000' }
    await expect(connection.send(['GET', 'k'], ONE_KEY)).rejects.toMatchObject({ ...refused, key: 'k' })
    await expect(connection.send(['PING'], NO_KEY)).rejects.toMatchObject(refused)
    const [master] = await connection.masters()
    await expect(master!.send(['PING'], NO_KEY)).rejects.toMatchObject(refused)
  })

  test.each<[Options | undefined, number]>([
    [undefined, 5000],
    [{}, 5000],
    [{ redisOptions: {} }, 5000],
    [{ commandTimeout: 300 }, 300],
    [{ commandTimeout: 300, redisOptions: { commandTimeout: 200 } }, 200],
  ])('with the options %j no verb waits for longer than %i ms', async (options, boundMs) => {
    const cluster = new FakeCluster(['a'])
    if (options !== undefined) cluster.options = options
    cluster.answer = () => new Promise(() => {})
    cluster.masters[0]!.answer = cluster.answer
    const connection = fromIoredisCluster(cluster)
    const [master] = await connection.masters()
    const ended: string[] = []
    for (const waiting of [connection.send(['GET', 'k'], ONE_KEY), master!.send(['PING'], NO_KEY)])
      waiting.catch((error: { code: string }) => ended.push(error.code))
    await vi.advanceTimersByTimeAsync(boundMs - 1)
    expect(ended).toEqual([])
    await vi.advanceTimersByTimeAsync(boundMs + 1)
    expect(ended).toEqual(['E_NOT_SENT', 'E_NOT_SENT']) // the client never wrote them
  })

  test.each<[Options, string]>([
    [
      { keyPrefix: 'app:' },
      'this ioredis client has the keyPrefix "app:": create it without, and give the prefix to open()',
    ],
    [
      { stringNumbers: true },
      'this ioredis client has stringNumbers: create it without, since counts are numbers',
    ],
    [
      { replyMapping: 'resp3' },
      "this ioredis client has replyMapping 'resp3', which loses fields that are not UTF-8: create it without",
    ],
  ])('refuses %j, of the cluster or of its nodes', (options, words) => {
    for (const given of [options, { redisOptions: options }]) {
      const cluster = new FakeCluster(['a'])
      cluster.options = given
      expect(() => fromIoredisCluster(cluster)).toThrow(words)
    }
    const client = new FakeIoredis('a')
    client.options = options
    expect(() => fromIoredis(client)).toThrow(words)
    client.options = { keyPrefix: '', stringNumbers: false, replyMapping: 'resp2' }
    expect(() => fromIoredis(client)).not.toThrow()
  })

  test('refuses other clients, each with the way out', () => {
    const pipeline = Object.assign(new FakeIoredis('a'), { addBatch: () => {} })
    const words =
      'this client is a pipeline, which sends nothing until it is executed: give the client itself'
    expect(() => fromIoredis(pipeline)).toThrow(words)
    expect(() => fromIoredisCluster(Object.assign(pipeline, { nodes: () => [] }))).toThrow(words)
    expect(() => fromIoredis(new FakeCluster([]))).toThrow(
      'this client is a cluster’s: give it to fromIoredisCluster()',
    )
    expect(() => fromIoredisCluster(new FakeIoredis('a') as never)).toThrow(
      'this client has no nodes: Keyspec needs a cluster client of ioredis 5 or 6',
    )
    for (const method of ['sendCommand', 'call', 'callBuffer'])
      expect(() => fromIoredis(Object.assign(new FakeIoredis('a'), { [method]: undefined }))).toThrow(
        `this client has no ${method}: Keyspec needs a client of ioredis 5 or 6`,
      )
  })
})

describe('over one client', () => {
  test('reads bytes where bytes are asked, and is a connection to its one master', async () => {
    const client = new FakeIoredis('a')
    const connection = fromIoredis(client)
    client.answer = async ([first]) => (first === 'bytes' ? Buffer.from('v') : 'v')
    expect(await connection.send(['GET', 'k'], ONE_KEY)).toBe('v')
    expect(await connection.send(['GET', 'k'], ONE_KEY_BYTES)).toEqual(Buffer.from('v'))
    expect(client.asked).toEqual(['GET k', 'bytes GET k'])
    expect([connection.client, connection.cluster, connection.dear]).toEqual(['ioredis', false, true])
    expect(await connection.masters()).toEqual([connection])
    expect(clientOf(connection)).toBe(client)
  })

  test('a redirection is not about to pass: this client follows none', async () => {
    const client = new FakeIoredis('a')
    client.answer = async () => {
      throw new Error('MOVED 1 127.0.0.1:7000')
    }
    await expect(fromIoredis(client).send(['GET', 'k'], ONE_KEY)).rejects.toMatchObject({
      code: 'E_WRONG_NODE',
    })
  })

  test('an error keeps the name of its command, and none of its values', async () => {
    const client = new FakeIoredis('a')
    const said = Object.assign(new Error('Connection is closed.'), {
      command: { name: 'set', args: ['k', 'secret'] },
    })
    client.answer = () => Promise.reject(said)
    const error = await fromIoredis(client)
      .send(['SET', 'k', 'secret'], ONE_KEY)
      .catch((error: unknown) => error)
    expect((error as Error).cause).toBe(said)
    expect(said.command).toEqual({ name: 'set' })
  })

  test('each command is a part of a pipeline, so that it is not sent again, and tells when it is written', async () => {
    const client = new FakeIoredis('a')
    client.options = { commandTimeout: 100 }
    client.answer = () => new Promise(() => {})
    const connection = fromIoredis(client)
    const codes: string[] = []
    for (const key of ['written', 'queued'])
      connection
        .send(['GET', key], ONE_KEY)
        .catch((error: { code: string }) => codes.push(`${key} ${error.code}`))
    const [written, queued] = client.commands
    expect([written!.pipelineIndex, queued!.pipelineIndex]).toEqual([-1, -1])
    expect(written!.toWritable('to')).toBe('to GET written')
    await vi.advanceTimersByTimeAsync(300)
    expect(codes).toEqual(['written E_UNKNOWN_OUTCOME', 'queued E_NOT_SENT'])
    // What was given up before it was written asks for nothing.
    expect(queued!.toWritable('to')).toBe('*1\r\n$4\r\nPING\r\n')
  })
})

describe('a subscriber', () => {
  /** A client that subscribes as the test says. */
  function fake() {
    const calls: string[] = []
    let hear: ((channel: string, message: string) => void) | undefined
    const client = {
      subscribe: async (channel: string): Promise<unknown> => calls.push(`subscribe ${channel}`),
      unsubscribe: async (channel: string): Promise<unknown> => calls.push(`unsubscribe ${channel}`),
      on: (_: 'message', listener: typeof hear) => {
        calls.push('on')
        hear = listener
      },
      off: (_: 'message', listener: typeof hear) => {
        calls.push(listener === hear ? 'off' : 'off another')
        hear = undefined
      },
    }
    return { client, calls, say: (channel: string, message: string) => hear?.(channel, message) }
  }

  test('listens once, to each channel while somebody hears it', async () => {
    const { client, calls, say } = fake()
    const subscriber = subscriberFromIoredis(client)
    const heard: string[] = []
    const stopFirst = await subscriber.subscribe('c', (message) => heard.push(`first ${message}`))
    const stopSecond = await subscriber.subscribe('c', (message) => heard.push(`second ${message}`))
    const stopOther = await subscriber.subscribe('d', (message) => heard.push(`other ${message}`))
    say('c', '1')
    say('e', 'nobody')
    await stopFirst()
    await stopFirst()
    say('c', '2')
    await stopSecond()
    say('d', '3')
    await stopOther()
    expect(heard).toEqual(['first 1', 'second 1', 'second 2', 'other 3'])
    expect(calls).toEqual([
      'on',
      'subscribe c',
      'subscribe c',
      'subscribe d',
      'unsubscribe c',
      'off',
      'unsubscribe d',
    ])
  })

  test('the same function twice hears twice', async () => {
    const { client, say } = fake()
    const subscriber = subscriberFromIoredis(client)
    const heard: string[] = []
    const listener = (message: string) => heard.push(message)
    const stop = await subscriber.subscribe('c', listener)
    await subscriber.subscribe('c', listener)
    say('c', '1')
    await stop()
    say('c', '2')
    expect(heard).toEqual(['1', '1', '2'])
  })

  test('a refused subscription leaves nothing behind, and says why', async () => {
    const { client, calls } = fake()
    client.subscribe = () => Promise.reject(new Error('refused'))
    client.unsubscribe = () => Promise.reject(new Error('refused too'))
    const subscribed = subscriberFromIoredis(client).subscribe('c', () => {})
    await expect(subscribed).rejects.toThrow('refused')
    await expect(subscribed).rejects.not.toThrow('too')
    expect(calls).toEqual(['on', 'off'])
  })
})
