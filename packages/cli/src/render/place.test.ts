import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from 'keyspec/testing'
import { atNode, HERE, placeFor, redisCliWords } from './place.ts'
import { commandLines, remedyText } from './remedy.ts'

const at = (url: string, more: object = {}) => placeFor({}, { url, ...more })

test.each([
  ['redis://127.0.0.1:6379', ''],
  ['redis://localhost', ''],
  ['redis://127.0.0.1:7000', '-p 7000'],
  ['redis://db.example:6379/3', '-h db.example -n 3'],
  ['redis://[::1]:7000', '-h ::1 -p 7000'],
  ['rediss://ann:secret@db.example:6380', '-h db.example -p 6380 --tls --user ann --askpass'],
  ['redis://:secret@127.0.0.1:6379', '--askpass'],
  ['unix:///run/redis.sock?db=2', '-s /run/redis.sock -n 2'],
])('redis-cli finds the server %s', (url, words) => {
  expect(redisCliWords(at(url)).join(' ')).toBe(words)
  expect(redisCliWords(at(url)).join(' ')).not.toContain('secret')
})

test('behind a Sentinel the master has to be looked up', () => {
  const place = at('redis://:secret@10.0.0.9:26379', { sentinel: 'mymaster' })
  expect(redisCliWords(place)).toEqual(['-h', 'MASTER', '-p', 'PORT', '--askpass'])
})

test('of several servers each has its own lines', () => {
  const place = at('rediss://ann:secret@10.0.0.1:7000', { cluster: true })
  const words = (node?: string) => redisCliWords(atNode(place, node)).slice(0, 4).join(' ')
  expect(words('10.0.0.2:7001')).toBe('-h 10.0.0.2 -p 7001')
  expect(words(':7002')).toBe('-h 10.0.0.1 -p 7002')
  expect(words('[fd00::1]:7003')).toBe('-h fd00::1 -p 7003')
  expect(words('fd00::1:7003')).toBe('-h fd00::1 -p 7003')
  expect(words('master 2')).toBe('-h HOST -p PORT')
  expect(words()).toBe('-h 10.0.0.1 -p 7000')
  expect(redisCliWords(atNode(place, '10.0.0.2:7001')).slice(4)).toEqual([
    '--tls',
    '--user',
    'ann',
    '--askpass',
  ])
})

test('keyspec is told again what it was told, and no password', () => {
  const flags = {
    config: 'my config.ts',
    schema: 'schema.ts#keys',
    prefix: '-p:',
    url: 'redis://ann:secret@10.0.0.1:7000/2',
    cluster: true,
  }
  const place = placeFor(flags, { url: flags.url })
  expect(commandLines({ kind: 'give-ttl', entry: 'page' }, place)).toEqual([
    "keyspec cleanup --config 'my config.ts' --schema 'schema.ts#keys' --prefix=-p: " +
      "--url 'redis://ann:***@10.0.0.1:7000/2' --cluster --entry page --repair",
  ])
  const sentinel = placeFor({ sentinel: 'mymaster' }, undefined)
  // An operand stands last, and what begins with a dash behind two.
  expect(commandLines({ kind: 'explain', key: '-x' }, sentinel)).toEqual([
    'keyspec explain --sentinel mymaster -- -x',
  ])
  expect(commandLines({ kind: 'explain', key: 'x' }, HERE)).toEqual(['keyspec explain x'])
})

test('a line that is pasted reaches the server and the database that it was printed for', async () => {
  const redis = await startRedis({ port: 'any', config: { requirepass: 'secret' } })
  onTestFinished(() => redis.stop())
  const url = `redis://:secret@127.0.0.1:${redis.port}/3`
  const ask = async (line: string) => {
    // In place of somebody who types it.
    const env = { ...process.env, REDISCLI_AUTH: 'secret' }
    const { stdout } = await promisify(execFile)('sh', ['-c', line.replace(' --askpass', '')], { env })
    return stdout.trim()
  }
  const to = `redis-cli ${redisCliWords(at(url)).join(' ')}`
  expect(await ask(`${to} SET k v EX 60`)).toContain('OK')
  const persist = remedyText({ kind: 'persist', key: 'k' }, at(url)).replace(/, and find.*/, '')
  expect(await ask(persist)).toBe('1')
  expect(await ask(`${to} TTL k`)).toBe('-1')
  const [configure] = commandLines(
    { kind: 'configure', settings: [{ parameter: 'maxmemory', value: '77mb' }] },
    at(url),
  )
  expect(await ask(configure!)).toBe('OK')
  expect(await ask(`${to} CONFIG GET maxmemory`)).toContain(String(77 * 2 ** 20))
})
