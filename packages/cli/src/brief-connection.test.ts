import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Address } from './address.ts'
import { briefConnection } from './brief-connection.ts'

let redis: TemporaryRedis

beforeAll(async () => {
  redis = await startRedis({ config: { requirepass: 'secret' } })
})

afterAll(() => redis.stop())

const open = (over: Partial<Address> = {}) =>
  briefConnection(
    {
      protocol: 'unix:',
      hostname: '',
      port: 0,
      path: redis.socket,
      username: undefined,
      password: 'secret',
      database: 0,
      ...over,
    },
    { connectWithinMs: 5_000, replyWithinMs: 20_000 },
  )
const NO_KEY = { firstKey: 0, keyCount: 0 }
const ONE_KEY = { firstKey: 1, keyCount: 1 }

test('answers in order what was asked at once, as text or as bytes, however large', async () => {
  const { connection, close } = await open({ database: 3 })
  const large = 'é'.repeat(200_000)
  const [, text, bytes, none, number, nested] = await Promise.all([
    connection.send(['SET', 'a', large], ONE_KEY),
    connection.send(['GET', 'a'], ONE_KEY),
    connection.send(['GET', Buffer.from('a')], { ...ONE_KEY, bytes: true }),
    connection.send(['GET', 'b'], ONE_KEY),
    connection.send(['EXISTS', 'a'], ONE_KEY),
    connection.send(['EVAL', "return {1, {'x', false}, {}}", '0'], NO_KEY),
  ])
  expect(text).toBe(large)
  expect(Buffer.from(large).equals(bytes as Buffer)).toBe(true)
  expect([none, number, nested]).toEqual([null, 1, [1, ['x', null], []]])
  await redis.command('SELECT', 3)
  expect(await redis.command('EXISTS', 'a')).toBe(1)
  close()
  await expect(connection.send(['PING'], NO_KEY)).rejects.toThrow('the connection is closed')
})

test('a refusal says in the words of the server what was refused, of which key, and not the password', async () => {
  const { connection, close } = await open()
  await connection.send(['SET', 'a', '1'], ONE_KEY)
  await expect(connection.send(['LPOP', 'a'], ONE_KEY)).rejects.toMatchObject({
    code: 'E_WRONG_TYPE',
    key: 'a',
    reply: expect.stringMatching(/^WRONGTYPE /),
  })
  close()
  const wrong = open({ password: 'guess' })
  await expect(wrong).rejects.toMatchObject({ code: 'E_DENIED' })
  await expect(wrong).rejects.toThrow(/^AUTH was refused: WRONGPASS (?!.*guess)/)
  await expect(open({ password: undefined })).rejects.toThrow(/^PING was refused: NOAUTH/)
})

test('an error inside an array is a refusal, and no value', async () => {
  const { connection, close } = await open()
  const nested = connection.send(['EVAL', "return {1, redis.error_reply('ERR inside')}", '0'], NO_KEY)
  await expect(nested).rejects.toMatchObject({ code: 'E_SERVER', reply: 'ERR inside' })
  expect(await connection.send(['ECHO', 'next'], NO_KEY)).toBe('next')
  close()
})

test('what was asked is not left waiting when the server goes', async () => {
  const { connection } = await open()
  redis.pause()
  const asked = connection.send(['PING'], NO_KEY)
  await Promise.all([expect(asked).rejects.toThrow(/closed the connection|ECONNRESET/), redis.kill()])
  await expect(open()).rejects.toThrow(/ECONNREFUSED/)
  await redis.restart()
})
