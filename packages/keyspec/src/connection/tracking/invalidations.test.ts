import { EventEmitter } from 'node:events'
import { describe, expect, test } from 'vitest'
import { ServerError } from '../server-error.ts'
import { runIdIn } from './invalidations.ts'
import { invalidationsFromIoredis } from './invalidations-ioredis.ts'
import { invalidationsFromNodeRedis } from './invalidations-node-redis.ts'

const INFO = '# Server\r\nredis_version:7.0.15\r\nrun_id:abc123\r\ntcp_port:6379\r\n'

/** Hears what invalidations tell, in words. */
function heard() {
  const told: string[] = []
  return {
    told,
    listener: {
      connected: () => void told.push('connected'),
      lost: () => void told.push('lost'),
      changed: (key: string | undefined) => void told.push(key === undefined ? 'any' : `changed ${key}`),
    },
  }
}

/** A client of ioredis that writes down what it is asked. */
class RecordingIoredis extends EventEmitter {
  status = 'connecting'
  options: { protocol?: 2 | 3; keyPrefix?: string } = {}
  readonly asked: string[] = []
  readonly refusals = new Map<string, string>()

  async #answer(words: readonly string[], reply: unknown): Promise<unknown> {
    this.asked.push(words.join(' '))
    const refusal = this.refusals.get(words.join(' '))
    if (refusal !== undefined) throw new Error(refusal)
    return reply
  }

  call(command: string, args: string[]): Promise<unknown> {
    const reply = command === 'INFO' ? INFO : args[0] === 'ID' ? 7 : 'OK'
    return this.#answer([command, ...args], reply)
  }

  ping(): Promise<unknown> {
    return this.#answer(['PING'], 'PONG')
  }

  subscribe(channel: string): Promise<unknown> {
    return this.#answer(['SUBSCRIBE', channel], 1)
  }

  unsubscribe(channel: string): Promise<unknown> {
    return this.#answer(['UNSUBSCRIBE', channel], 0)
  }
}

describe('invalidations over ioredis', () => {
  const CHANNEL = '__redis__:invalidate'

  test('tracks in an order that RESP2 allows, and answers who tells', async () => {
    const client = new RecordingIoredis()
    expect(await invalidationsFromIoredis(client).track(['a:', 'b:'])).toBe('abc123')
    expect(client.asked).toEqual([
      `UNSUBSCRIBE ${CHANNEL}`,
      'INFO server',
      'CLIENT ID',
      'CLIENT TRACKING OFF',
      'CLIENT TRACKING ON REDIRECT 7 BCAST PREFIX a: PREFIX b:',
      `SUBSCRIBE ${CHANNEL}`,
    ])
  })

  test('a subscription that there was not need not end, and any other refusal does count', async () => {
    const client = new RecordingIoredis()
    const invalidations = invalidationsFromIoredis(client)
    client.refusals.set(`UNSUBSCRIBE ${CHANNEL}`, 'NOSUB the client is not subscribed')
    expect(await invalidations.track(['a:'])).toBe('abc123')
    client.refusals.set(`UNSUBSCRIBE ${CHANNEL}`, 'NOPERM no permission (NOSUB )')
    await expect(invalidations.track(['a:'])).rejects.toMatchObject({ code: 'E_DENIED' })
    client.refusals.set(`UNSUBSCRIBE ${CHANNEL}`, 'Connection is closed.')
    await expect(invalidations.track(['a:'])).rejects.toThrow('Connection is closed.')
  })

  test.each(['INFO server', 'CLIENT ID', 'CLIENT TRACKING OFF', `SUBSCRIBE ${CHANNEL}`, 'PING'])(
    'says which command the server refused: %s',
    async (command) => {
      const client = new RecordingIoredis()
      client.refusals.set(command, 'ERR not today')
      const invalidations = invalidationsFromIoredis(client)
      const refused = command === 'PING' ? invalidations.ping() : invalidations.track(['a:'])
      const error = await refused.catch((error: unknown) => error)
      expect(error).toBeInstanceOf(ServerError)
      expect(error).toMatchObject({
        reply: 'ERR not today',
        message: `${command.split(' ')[0]} was refused: ERR not today`,
      })
    },
  )

  test('hears keys on its channel alone, and of each connection that comes and goes', () => {
    const client = new RecordingIoredis()
    const { told, listener } = heard()
    invalidationsFromIoredis(client).listen(listener)
    client.emit('messageBuffer', Buffer.from('other'), [Buffer.from('a:0')])
    client.emit('messageBuffer', Buffer.from(CHANNEL), [Buffer.from('a:1'), Buffer.from('a:2')])
    client.emit('messageBuffer', Buffer.from(CHANNEL), null)
    client.emit('ready')
    client.emit('close')
    client.emit('error', new Error('away')) // would be thrown without a listener
    expect(told).toEqual(['changed a:1', 'changed a:2', 'any', 'connected', 'lost'])
  })

  test('is told at once of a connection that there is already', () => {
    const client = new RecordingIoredis()
    client.status = 'ready'
    const { told, listener } = heard()
    invalidationsFromIoredis(client).listen(listener)
    expect(told).toEqual(['connected'])
  })

  test('refuses a client that hides what it hears, or changes keys', () => {
    const client = new RecordingIoredis()
    client.options = { protocol: 3 }
    expect(() => invalidationsFromIoredis(client)).toThrow(
      'this ioredis client speaks RESP3, in which it keeps to itself what Redis tells it of changed keys: create it with { protocol: 2 }',
    )
    client.options = { protocol: 2, keyPrefix: 'app:' }
    expect(() => invalidationsFromIoredis(client)).toThrow(
      'this ioredis client has the keyPrefix "app:": create it without, and give the prefix to open()',
    )
    client.options = { protocol: 2, keyPrefix: '' }
    expect(() => invalidationsFromIoredis(client)).not.toThrow()
  })
})

/** A client of node-redis that writes down what it is asked. */
class RecordingNodeRedis extends EventEmitter {
  isReady = false
  options: { emitInvalidate?: boolean } | undefined = { emitInvalidate: true }
  readonly asked: string[] = []
  refused: string | undefined

  async sendCommand(args: readonly string[]): Promise<unknown> {
    this.asked.push(args.join(' '))
    if (args.join(' ') === this.refused) throw new Error('ERR not today')
    return args[0] === 'INFO' ? INFO : 'OK'
  }
}

describe('invalidations over node-redis', () => {
  test('ends what the client tracks by itself, tracks by prefix, and answers who tells', async () => {
    const client = new RecordingNodeRedis()
    const invalidations = invalidationsFromNodeRedis(client)
    expect(await invalidations.track(['a:', 'b:'])).toBe('abc123')
    await invalidations.ping()
    expect(client.asked).toEqual([
      'INFO server',
      'CLIENT TRACKING OFF',
      'CLIENT TRACKING ON BCAST PREFIX a: PREFIX b:',
      'PING',
    ])
  })

  test('says which command the server refused', async () => {
    const client = new RecordingNodeRedis()
    client.refused = 'CLIENT TRACKING OFF'
    await expect(invalidationsFromNodeRedis(client).track(['a:'])).rejects.toMatchObject({
      code: 'E_SERVER',
      message: 'CLIENT was refused: ERR not today',
    })
  })

  test('hears keys, and of each connection that comes and goes', () => {
    const client = new RecordingNodeRedis()
    const { told, listener } = heard()
    invalidationsFromNodeRedis(client).listen(listener)
    client.emit('invalidate', Buffer.from('a:1'))
    client.emit('invalidate', 'a:2')
    client.emit('invalidate', null)
    for (const event of ['ready', 'reconnecting', 'terminated', 'end']) client.emit(event)
    expect(told).toEqual(['changed a:1', 'changed a:2', 'any', 'connected', 'lost', 'lost', 'lost'])
  })

  test('an error begins anew over the connection that there is, and ends it where there is none', () => {
    const client = new RecordingNodeRedis()
    client.isReady = true
    const { told, listener } = heard()
    invalidationsFromNodeRedis(client).listen(listener)
    client.emit('error', new Error('a reply that could not be read'))
    client.isReady = false
    client.emit('error', new Error('away'))
    expect(told).toEqual(['connected', 'connected', 'lost'])
  })

  test.each([undefined, {}, { emitInvalidate: false }])('refuses a client with the options %j', (options) => {
    const client = new RecordingNodeRedis()
    client.options = options
    expect(() => invalidationsFromNodeRedis(client)).toThrow(
      'this node-redis client keeps to itself what Redis tells it of changed keys: create it with { emitInvalidate: true }, in RESP3',
    )
  })
})

test('the run_id is that of its own line', () => {
  expect(runIdIn('old_run_id:x\r\nrun_id:y\r\n')).toBe('y')
  expect(() => runIdIn('# Server\r\n')).toThrow(new TypeError('what INFO answered names no run_id'))
})
