import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { afterAll, assert, beforeAll, expect, test } from 'vitest'
import { startRedis, type TemporaryRedis } from './redis.ts'
import { encodeCommand, readReply } from '../connection/client/resp.ts'
import { rawConnection } from './resp.ts'

let redis: TemporaryRedis
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

test('reads every kind of RESP2 reply', () => {
  expect(parse('+OK\r\n')).toBe('OK')
  expect(parse(':-7\r\n')).toBe(-7)
  expect(parse('$3\r\na\0b\r\n')).toEqual(Buffer.from('a\0b'))
  expect(parse('$0\r\n\r\n')).toEqual(Buffer.alloc(0))
  expect(parse('$-1\r\n')).toBeNull()
  expect(parse('*-1\r\n')).toBeNull()
  expect(parse('*0\r\n')).toEqual([])
  expect(parse('*3\r\n:1\r\n*1\r\n$1\r\na\r\n-ERR no\r\n')).toEqual([
    1,
    [Buffer.from('a')],
    new Error('ERR no'),
  ])
  expect(parse('-WRONGTYPE it is a list\r\n')).toEqual(new Error('WRONGTYPE it is a list'))
})

test('asks for more bytes wherever a reply is cut, and says where the next one starts', () => {
  const reply = Buffer.from('*3\r\n$5\r\nhe\r\no\r\n:12\r\n*1\r\n$-1\r\n')
  for (let length = 0; length < reply.length; length += 1) {
    expect(readReply(reply.subarray(0, length))).toBeUndefined()
  }
  expect(readReply(Buffer.concat([reply, Buffer.from('+next\r\n')]))?.end).toBe(reply.length)
})

test('refuses what is not RESP2', () => {
  expect(() => readReply(Buffer.from('HTTP/1.1 400\r\n'))).toThrow('Not a RESP2 reply: "HTTP/1.1 400')
})

test('counts bytes, not characters', () => {
  expect(encodeCommand(['SET', 'é', 1, Uint8Array.of(0, 255)])).toEqual(
    Buffer.from('*4\r\n$3\r\nSET\r\n$2\r\n\xc3\xa9\r\n$1\r\n1\r\n$2\r\n\x00\xff\r\n', 'latin1'),
  )
})

test('keeps bytes as they are, however many', async () => {
  const bytes = randomBytes(300_000)
  expect(await redis.command('SET', 'blob', bytes)).toBe('OK')
  const read = await redis.commandBuffer('GET', 'blob')
  expect(Buffer.isBuffer(read) && read.equals(bytes)).toBe(true)
})

test('gives each of many commands at once its own answer', async () => {
  await redis.command('SET', 'word', 'x')
  const answers = await Promise.allSettled([
    redis.command('ECHO', 'first'),
    redis.command('INCR', 'word'),
    redis.command('LRANGE', 'absent', 0, -1),
    redis.command('MGET', 'word', 'absent'),
  ])
  expect(answers).toEqual([
    { status: 'fulfilled', value: 'first' },
    { status: 'rejected', reason: new Error('ERR value is not an integer or out of range') },
    { status: 'fulfilled', value: [] },
    { status: 'fulfilled', value: ['x', null] },
  ])
})

test('leaves an error inside a transaction where it stands', async () => {
  await redis.command('SET', 'text', 'x')
  const [, , , replies] = await Promise.all([
    redis.command('MULTI'),
    redis.command('INCR', 'text'),
    redis.command('STRLEN', 'text'),
    redis.command('EXEC'),
  ])
  expect(replies).toEqual([new Error('ERR value is not an integer or out of range'), 1])
})

test('signs in where the server has a password', async () => {
  const locked = await startRedis({ config: { requirepass: 'sesame' } })
  try {
    expect(await locked.command('ECHO', 'in')).toBe('in')
    const stranger = rawConnection({ path: locked.socket })
    await expect(stranger.command('GET', 'a')).rejects.toThrow('NOAUTH')
    stranger.close()
  } finally {
    await locked.stop()
  }
})

test('rejects what was asked when the connection is lost, and connects again at the next command', async () => {
  let connections = 0
  const fickle = createServer((socket) => {
    connections += 1
    socket.on('data', () => (connections === 1 ? socket.destroy() : socket.write('+PONG\r\n')))
  })
  await new Promise<void>((resolve) => fickle.listen(0, '127.0.0.1', resolve))
  const address = fickle.address()
  assert(typeof address === 'object' && address !== null)
  const raw = rawConnection({ port: address.port, host: '127.0.0.1' })
  await expect(Promise.all([raw.command('PING'), raw.command('PING')])).rejects.toThrow(
    /closed|ECONNRESET|EPIPE/,
  )
  expect(await raw.command('PING')).toBe('PONG')
  raw.close()
  fickle.close()
})

test('says so when what answers is not Redis', async () => {
  const web = createServer((socket) => socket.on('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n')))
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  const address = web.address()
  assert(typeof address === 'object' && address !== null)
  const raw = rawConnection({ port: address.port, host: '127.0.0.1' })
  await expect(raw.command('PING')).rejects.toThrow('does not answer as Redis does')
  web.close()
})

function parse(text: string) {
  return readReply(Buffer.from(text))?.value
}
