import { GlideClient } from '@valkey/valkey-glide'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connections, type Opened, type Way } from '../../../../../test-support/connections.ts'
import { type Proxy, startProxy } from '../../../../../test-support/index.ts'
import { KeyspecError, UnknownOutcomeError } from '../../errors.ts'
import { textReply } from '../../connection/reply.ts'
import { script } from '../../script/script.ts'
import { eventually, startRedis, type TemporaryRedis, unique } from '../../testing/index.ts'
import { type Command, type Connection, NO_KEY, ONE_KEY } from '../connection.ts'
import { fromGlide } from './glide.ts'
import { fromIoredis } from './ioredis.ts'
import { fromNodeRedis } from './node-redis.ts'
import { isUnavailable, ServerError } from '../server-error.ts'
import { isRedis6 } from '../../../../../test-support/server-version.ts'

// Each client with a short time limit, and without its own repeating of what was lost.
const impatient: readonly Way<{ readonly port: number | undefined }>[] = [
  ['node-redis', overNodeRedis],
  ['ioredis', overIoredis],
  ['glide', overGlide],
]

describe.each(impatient)('%s', (_name, open) => {
  let redis: TemporaryRedis
  let proxy: Proxy
  let opened: Opened
  beforeAll(async () => {
    redis = await startRedis({ port: 'any' })
    proxy = await startProxy(redis)
    opened = await open(proxy)
  })
  afterAll(async () => {
    await opened.close()
    await proxy.stop()
    await redis.stop()
  })

  test('a connection that is cut mid-command has an unknown outcome, with the client’s own error as its cause, and works again', async () => {
    const { connection } = opened
    const key = unique()
    await eventually(() => connection.send(['SET', key, '1'], ONE_KEY), { within: '20s' })
    proxy.stall('replies')
    const lost = connection.send(['INCR', key], ONE_KEY).catch((error: unknown) => error)
    await eventually(async () => expect(await redis.command('GET', key)).toBe('2'))
    proxy.cut()
    const error = await lost
    expect(error).toBeInstanceOf(UnknownOutcomeError)
    expect((error as Error).cause).toBeInstanceOf(Error)
    expect((error as Error).cause).not.toBeInstanceOf(KeyspecError)
    expect(isUnavailable(error)).toBe(true)
    await proxy.restore()
    await eventually(async () => expect(await connection.send(['GET', key], ONE_KEY)).toBe('2'), {
      within: '20s',
    })
  })

  test('a server that is stopped meets the client’s time limit, and answers again when it goes on', async () => {
    const { connection } = opened
    redis.pause()
    const error = await connection
      .send(['GET', unique()], ONE_KEY)
      .catch((caught: unknown) => caught)
      .finally(() => redis.resume())
    expect(error).toBeInstanceOf(UnknownOutcomeError)
    expect((error as Error).cause).toBeInstanceOf(Error)
    expect((error as Error).cause).not.toBeInstanceOf(KeyspecError)
    expect(isUnavailable(error)).toBe(true)
    await eventually(async () => expect(await connection.send(['PING'], NO_KEY)).toBe('PONG'), {
      within: '20s',
    })
  })
})

describe.each(connections)('what the server refuses, over %s', (_name, open) => {
  let redis: TemporaryRedis
  let opened: Opened
  beforeAll(async () => {
    redis = await startRedis({ port: 'any', config: { 'rename-command': 'GETEX ""' } })
    opened = await open(redis)
  })
  afterAll(async () => {
    await opened.close()
    await redis.stop()
  })

  test('out of memory', async () => {
    const key = unique()
    await redis.command('CONFIG', 'SET', 'maxmemory', '1')
    const error = await refusal(opened.connection, ['SET', key, 'x'])
    const scripted = await set.run(opened.connection, { key }, {}).catch((caught: unknown) => caught)
    await redis.command('CONFIG', 'SET', 'maxmemory', '0')
    expect(error).toMatchObject({ code: 'E_OUT_OF_MEMORY', key })
    expect(error.message).toContain(`${key}: SET was refused: OOM command not allowed`)
    expect(error.message).toContain('nothing was written')
    expect(scripted).toMatchObject({ code: 'E_OUT_OF_MEMORY', key })
    expect(isUnavailable(error)).toBe(false)
    expect(await redis.command('EXISTS', key)).toBe(0)
  })

  test('a replica', async () => {
    const key = unique()
    await redis.command('REPLICAOF', '127.0.0.1', '1')
    const error = await refusal(opened.connection, ['SET', key, 'x'])
    await redis.command('CONFIG', 'SET', 'replica-serve-stale-data', 'no')
    const stale = await refusal(opened.connection, ['GET', key])
    await redis.command('REPLICAOF', 'NO', 'ONE')
    expect(error).toMatchObject({ code: 'E_READ_ONLY', key })
    expect(error.message).toContain('connect to the master, or wait for the failover to end')
    expect(isUnavailable(error)).toBe(true)
    expect(stale).toMatchObject({ code: 'E_NOT_READY', key })
    expect(isUnavailable(stale)).toBe(true)
  })

  test('a password or a permission', async () => {
    const wrong = await opened.connection
      .send(['AUTH', 'nobody', 'wrong'], NO_KEY)
      .catch((caught: unknown) => caught)
    expect(wrong).toMatchObject({ code: 'E_DENIED', key: undefined })
    expect((wrong as Error).message).toContain('AUTH was refused: WRONGPASS')
    expect((wrong as Error).message).not.toContain('nobody')
    const key = unique()
    await redis.command('ACL', 'SETUSER', 'default', '-lpush')
    const denied = await refusal(opened.connection, ['LPUSH', key, 'x'])
    await redis.command('ACL', 'SETUSER', 'default', '+@all')
    expect(denied).toMatchObject({ code: 'E_DENIED', key })
    expect(denied.message).toContain('(the user lacks the permission +lpush: ACL SETUSER ')
  })

  test('a command that is newer than it', async () => {
    const key = unique()
    const error = await refusal(opened.connection, ['GETEX', key])
    expect(error).toMatchObject({ code: 'E_TOO_OLD', key })
    expect(error.message).toContain('Keyspec needs Redis 6.2 or Valkey 7.2, or newer')
    const newer = script('test/newer', {
      keys: ['key'],
      args: {},
      commands: [],
      lua: `return redis.call('GETEX', key)`,
      reply: textReply,
    })
    await expect(newer.run(opened.connection, { key }, {})).rejects.toMatchObject({ code: 'E_TOO_OLD', key })
  })
})

// Redis 6.2 answers nobody while it loads so little.
test.skipIf(isRedis6)(
  'a server that is still loading its data is not ready (needs Redis 7 or Valkey)',
  async () => {
    const config = { 'key-load-delay': '20000', 'loading-process-events-interval-bytes': '1024' }
    await using redis = await startRedis({ port: 'any', config })
    for (let at = 0; at < 64; at++) await redis.command('SET', `key:${at}`, 'x'.repeat(2000))
    await redis.command('SAVE')
    const restarting = redis.restart()
    const error = await eventually(async () => {
      // In RESP2 and without naming itself it asks nothing before it is ready.
      const client = createClient({
        socket: { host: '127.0.0.1', port: redis.port!, reconnectStrategy: false },
        RESP: 2,
        disableClientInfo: true,
      })
      client.on('error', () => {})
      try {
        await client.connect()
        return await refusal(fromNodeRedis(client), ['GET', 'key:1'])
      } finally {
        if (client.isOpen) client.destroy()
      }
    })
    expect(error).toMatchObject({ code: 'E_NOT_READY', key: 'key:1' })
    expect(error.message).toContain('LOADING')
    expect(isUnavailable(error)).toBe(true)
    await restarting
  },
)

const set = script('test/set', {
  keys: ['key'],
  args: {},
  commands: [],
  lua: `redis.call('SET', key, 'x') return 'done'`,
  reply: textReply,
})

async function refusal(connection: Connection, command: Command): Promise<ServerError> {
  try {
    await connection.send(command, ONE_KEY)
  } catch (error) {
    expect(error).toBeInstanceOf(ServerError)
    return error as ServerError
  }
  throw new Error(`${String(command[0])} was not refused`)
}

async function overNodeRedis({ port }: { readonly port: number | undefined }): Promise<Opened> {
  const client = createClient({
    socket: { host: '127.0.0.1', port: port!, reconnectStrategy: 5 },
    commandOptions: { timeout: 1000 },
  })
  client.on('error', () => {})
  await client.connect()
  return { connection: fromNodeRedis(client), close: () => client.destroy() }
}

async function overIoredis({ port }: { readonly port: number | undefined }): Promise<Opened> {
  const client = new Redis({
    port: port!,
    commandTimeout: 1000,
    autoResendUnfulfilledCommands: false,
    retryStrategy: () => 5,
  })
  client.on('error', () => {})
  return { connection: fromIoredis(client), close: () => client.disconnect() }
}

async function overGlide({ port }: { readonly port: number | undefined }): Promise<Opened> {
  const addresses = [{ host: '127.0.0.1', port: port! }]
  const client = await GlideClient.createClient({ addresses, requestTimeout: 1000 })
  return { connection: fromGlide(client), close: () => client.close() }
}
