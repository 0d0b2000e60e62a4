import { networkInterfaces } from 'node:os'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openServer, openServerBriefly, targetOf } from './connect.ts'

const NO_KEY = { firstKey: 0, keyCount: 0 } as const
// All that means something in a URL, and what is no ASCII.
const OWN = 'd:e@f/a?u#l%t-é'
const ANNS = 'p:w@d/?#%41é'
const HOSTILE = 'a:n@n/é%'
const hasIPv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)

let redis: TemporaryRedis
beforeAll(async () => {
  redis = await startRedis({
    port: 'any',
    config: { requirepass: OWN, bind: hasIPv6 ? '127.0.0.1 ::1' : '127.0.0.1' },
  })
  for (const name of ['ann', HOSTILE])
    await redis.command('ACL', 'SETUSER', name, 'on', `>${ANNS}`, '+@all', '~*')
  await redis.command('ACL', 'SETUSER', 'free', 'on', 'nopass', '+@all', '~*')
})
afterAll(() => redis.stop())

const own = `:${encodeURIComponent(OWN)}`
const ann = `ann:${encodeURIComponent(ANNS)}`
const hostile = `${encodeURIComponent(HOSTILE)}:${encodeURIComponent(ANNS)}`

interface Reached {
  readonly user: string
  readonly database: number
  readonly address?: RegExp
}

/** What each URL reaches, `PORT` and `SOCKET` standing for those of the server. */
const reached: readonly (readonly [url: string, Reached])[] = [
  [`redis://${own}@127.0.0.1:PORT`, { user: 'default', database: 0, address: /^127\.0\.0\.1:/ }],
  [`redis://default${own}@127.0.0.1:PORT/`, { user: 'default', database: 0 }],
  [`redis://${ann}@127.0.0.1:PORT`, { user: 'ann', database: 0 }],
  [`redis://${hostile}@127.0.0.1:PORT`, { user: HOSTILE, database: 0 }],
  ['redis://free:anything@127.0.0.1:PORT', { user: 'free', database: 0 }],
  [`redis://${ann}@localhost:PORT/3`, { user: 'ann', database: 3 }],
  [`redis://${ann}@127.0.0.1:PORT?db=3`, { user: 'ann', database: 3 }],
  [`redis://${own}@127.0.0.1:PORT/?db=3`, { user: 'default', database: 3 }],
  [`unix://${own}@SOCKET`, { user: 'default', database: 0 }],
  [`unix://${hostile}@SOCKET?db=3`, { user: HOSTILE, database: 3 }],
  [`unix://${ann}@localhostSOCKET?db=15`, { user: 'ann', database: 15 }],
]
const overIPv6: typeof reached = [
  [`redis://${ann}@[::1]:PORT/3`, { user: 'ann', database: 3, address: /^\[::1\]:/ }],
]

/** Both ways in which a command connects. */
const ways = [
  ['the client', openServer],
  ['the brief connection', openServerBriefly],
] as const

const urlOf = (url: string) => url.replace('PORT', String(redis.port)).replace('SOCKET', redis.socket)

describe.each(ways)('%s', (_, open) => {
  const asked = async (url: string) => {
    const { connection, close } = await open({ url: urlOf(url) })
    const user = await connection.send(['ACL', 'WHOAMI'], NO_KEY)
    const info = String(await connection.send(['CLIENT', 'INFO'], NO_KEY))
    await close()
    const of = (name: string) => new RegExp(`(?:^| )${name}=(\\S*)`).exec(info)![1]!
    return { user, database: Number(of('db')), address: of('addr') }
  }
  const expected = ({ address = /./, ...rest }: Reached) => ({
    ...rest,
    address: expect.stringMatching(address),
  })

  test.each(reached)('%s reaches the user and the database that it names', async (url, what) => {
    expect(await asked(url)).toEqual(expected(what))
  })

  test.skipIf(!hasIPv6).each(overIPv6)('%s reaches the server over IPv6', async (url, what) => {
    expect(await asked(url)).toEqual(expected(what))
  })

  test.each([
    ['user and password swapped', `redis://${encodeURIComponent(ANNS)}:ann@127.0.0.1:PORT`],
    ['no password', 'redis://127.0.0.1:PORT'],
    ['another’s password', `redis://ann${own}@127.0.0.1:PORT`],
    [
      'a password that is encoded twice',
      `redis://ann:${encodeURIComponent(encodeURIComponent(ANNS))}@127.0.0.1:PORT`,
    ],
    ['a database that is not there', `redis://${ann}@127.0.0.1:PORT/99`],
    ['a socket that is not there', `unix://${ann}@SOCKET.none`],
  ])('%s is exit code 3, said without the password', async (_name, url) => {
    const began = performance.now()
    const refused: { exitCode: number; message: string } = await open({ url: urlOf(url) }).then(
      () => expect.unreachable(),
      (error) => error,
    )
    expect(refused.exitCode).toBe(3)
    // A client that is refused, rather than disconnected, does not go on trying.
    expect(performance.now() - began).toBeLessThan(10_000)
    expect(refused.message).toMatch(/^(redis|unix):\/\/\S+ cannot be reached: ./)
    for (const secret of [OWN, ANNS, encodeURIComponent(ANNS), own.slice(1)])
      expect(refused.message).not.toContain(secret)
  })

  test.each([
    ['a cluster at a unix socket', { url: 'unix:///tmp/r.sock', cluster: true }],
    ['a Sentinel at a unix socket', { url: 'unix:///tmp/r.sock', sentinel: 'mymaster' }],
    ['another database of a cluster', { url: 'redis://127.0.0.1:1/3', cluster: true }],
  ])('%s is a misuse', async (_name, target) => {
    await expect(open(target)).rejects.toMatchObject({ exitCode: 2 })
  })
})

test('flags win over the environment, and that over the configuration', () => {
  const config = { schema: {}, url: 'redis://c', cluster: true, sentinel: 'c' }
  const env = { REDIS_URL: 'redis://e' }
  const flags = { url: 'redis://f', cluster: false, sentinel: 'f' }
  expect(targetOf(flags, env, config)).toEqual(flags)
  expect(targetOf({}, env, config)).toEqual({ url: 'redis://e', cluster: true, sentinel: 'c' })
  expect(targetOf({}, {}, config)).toEqual({ url: 'redis://c', cluster: true, sentinel: 'c' })
  expect(() => targetOf({}, {}, { schema: {} })).toThrow('no server is named')
})
