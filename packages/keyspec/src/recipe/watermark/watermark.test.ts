import { createClient } from 'redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { number } from '../../codec/number.ts'
import { isoDate } from '../../codec/iso-date.ts'
import { integer } from '../../codec/integer.ts'
import { text } from '../../codec/text.ts'
import { sqlDate } from '../../codec/sql-date.ts'
import { fromNodeRedis } from '../../connection/client/node-redis.ts'
import { DecodeError, EncodeError } from '../../errors.ts'
import { open } from '../../keyspace.ts'
import { unique } from '../../testing/eventually.ts'
import { startRedis, type TemporaryRedis } from '../../testing/redis.ts'
import { watermark } from './watermark.ts'

let server: TemporaryRedis
let client: ReturnType<typeof connect>
const connect = () => createClient({ socket: { path: server.socket, tls: false } })
beforeAll(async () => {
  server = await startRedis()
  client = connect()
  await client.connect()
})
afterAll(async () => {
  client.destroy()
  await server.stop()
})

const forever = { ttl: 'forever', reason: 'where the next run goes on' } as const
const schema = {
  dockets: watermark('dockets_last_timestamp', sqlDate, {
    ...forever,
    renamedFrom: { pattern: 'docket_last_timestamp', phase: 2 },
  }),
  documents: watermark('documents_last', isoDate, forever),
  offset: watermark('offset', integer, forever),
  score: watermark('score', number, forever),
  name: watermark('name', text, forever),
  ofDay: watermark('mark:<day>', integer, { ttl: '2d' }),
}
const keysOver = (over = client, prefix = `${unique()}:`) => open(schema, fromNodeRedis(over), { prefix })
const at = (time: string) => new Date(`2024-09-17T${time}Z`)

test('moves forward and never back, and holds the text of the document', async () => {
  const key = keysOver().dockets()
  expect(await key.get()).toBeUndefined()
  expect(await key.advance(at('14:30:00'))).toEqual({ advanced: true, value: at('14:30:00') })
  expect(await key.advance(at('14:29:59'))).toEqual({ advanced: false, value: at('14:30:00') })
  expect(await key.advance(at('14:30:00.900'))).toEqual({ advanced: false, value: at('14:30:00') })
  expect(await key.advance(at('14:30:01.900'))).toEqual({ advanced: true, value: at('14:30:01') })
  expect(await server.command('GET', key.name)).toBe('2024-09-17 14:30:01')
  expect(await server.command('PTTL', key.name)).toBe(-1)
})

test('compares numbers as numbers', async () => {
  const keys = keysOver()
  await keys.offset().advance(9)
  expect(await keys.offset().advance(10)).toEqual({ advanced: true, value: 10 })
  expect(await keys.offset().advance(9)).toEqual({ advanced: false, value: 10 })
  await keys.score().advance(-1.5)
  expect((await keys.score().advance(-2)).advanced).toBe(false)
  expect((await keys.score().advance(1e21)).advanced).toBe(true)
  await keys.name().advance('b')
  expect((await keys.name().advance('B')).advanced).toBe(false)
})

test('takes what another program wrote for what it means, not for how it is spelled', async () => {
  const key = keysOver().documents()
  await server.command('SET', key.name, '2024-09-17T16:30:00+02:00')
  expect(await key.advance(at('14:00:00'))).toEqual({ advanced: false, value: at('14:30:00') })
  expect(await server.command('GET', key.name)).toBe('2024-09-17T16:30:00+02:00')
  expect((await key.advance(at('15:00:00'))).advanced).toBe(true)
  expect(await server.command('GET', key.name)).toBe('2024-09-17T15:00:00.000Z')
})

test('goes on from the value under an old name', async () => {
  const prefix = `${unique()}:`
  const key = keysOver(client, prefix).dockets()
  await server.command('SET', `${prefix}docket_last_timestamp`, '2024-09-17 14:30:00')
  expect((await key.advance(at('10:00:00'))).advanced).toBe(false)
  expect(await server.command('GET', key.name)).toBe('2024-09-17 14:30:00')
})

test('ends at the highest value and is never seen to go back, whoever writes at once over whichever connection', async () => {
  const prefix = `${unique()}:`
  const others = await Promise.all([connect().connect(), connect().connect(), connect().connect()])
  const keys = [client, ...others].map((each) => keysOver(each, prefix).offset())
  const looks: number[] = []
  let writing = true
  const watcher = (async () => {
    while (writing) looks.push(Number(await server.command('GET', keys[0]!.name)))
  })()
  const advanced = await Promise.all(
    Array.from({ length: 200 }, (_, n) => keys[n % 4]!.advance(((n * 73) % 200) + 1)),
  )
  writing = false
  await watcher
  expect(looks).toEqual(looks.toSorted((a, b) => a - b))
  expect(await server.command('GET', keys[0]!.name)).toBe('200')
  for (const [n, { advanced: moved, value }] of advanced.entries()) {
    if (moved) expect(value).toBe(((n * 73) % 200) + 1)
    else expect(value).toBeGreaterThanOrEqual(((n * 73) % 200) + 1)
  }
  for (const other of others) other.destroy()
})

test('has the time to live it declares, from the last time it moved', async () => {
  const key = keysOver().ofDay({ day: '2024-09-17' })
  await key.advance(5)
  expect(await server.command('PTTL', key.name)).toBeGreaterThan(172_790_000)
  await server.command('PEXPIRE', key.name, 60_000)
  await key.advance(4)
  expect(await server.command('PTTL', key.name)).toBeLessThanOrEqual(60_000)
  await key.advance(6)
  expect(await server.command('PTTL', key.name)).toBeGreaterThan(172_790_000)
})

test('leaves what it cannot read, and names the key', async () => {
  const key = keysOver().dockets()
  await server.command('SET', key.name, Buffer.from([0xff, 0xfe]))
  await expect(key.advance(at('14:30:00'))).rejects.toThrow(DecodeError)
  await expect(key.get()).rejects.toThrow(key.name)
  expect(await server.commandBuffer('GET', key.name)).toEqual(Buffer.from([0xff, 0xfe]))
  await expect(keysOver().offset().advance(1.5)).rejects.toThrow(EncodeError)
})
