import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { keyspec } from '../../../test-support/command-line.ts'
import { startRedis } from 'keyspec/testing'
import { commands } from './command-list.ts'

test('shows what there is, and each command its options and examples', async () => {
  const { code, out } = await keyspec(['--help'])
  expect(code).toBe(0)
  for (const name of Object.keys(commands)) expect(out).toContain(`  ${name} `)
  for (const [name, { load, about }] of Object.entries(commands)) {
    const command = await load()
    const help = await keyspec([name, '--help'])
    expect(help.code).toBe(0)
    expect(help.out).toContain(`usage: keyspec ${name} `)
    expect(help.out).toContain(about)
    expect(command.examples.length, name).toBeGreaterThan(0)
    for (const [line] of command.examples)
      expect(line).toMatch(new RegExp(`^(REDIS_URL=\\S+ )?keyspec ${name}\\b`))
  }
})

test('each command publishes the JSON Schema of what it prints', async () => {
  for (const name of Object.keys(commands)) {
    const { code, out } = await keyspec([name, '--json-schema'])
    expect(code, name).toBe(0)
    const schema = JSON.parse(out)
    const validate = new Ajv2020({ allowUnionTypes: true }).compile(schema)
    expect(validate({ nothing: 'of the kind' }), name).toBe(false)
  }
})

test('a version is one line', async () => {
  expect((await keyspec(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/)
})

test.each<[string, string[], string]>([
  ['a command that is not there', ['adit'], 'there is no command "adit"'],
  ['an option that is not there', ['explain', 'x', '--colour'], "Unknown option '--colour'"],
  ['an operand too many', ['explain', 'a', 'b'], 'keyspec explain does not take "b"'],
  ['a number that is none', ['explain', 'a', '--max-load', 'much'], '--max-load takes a number, not "much"'],
  ['a load of more than all', ['audit', '--max-load', '2'], '--max-load is above 0 and at most 1, not 2'],
  ['a load of nothing', ['stats', '--max-load', '0'], '--max-load is above 0 and at most 1, not 0'],
  ['a configuration that is not there', ['explain', 'a', '--config', 'no.ts'], 'there is no no.ts'],
  [
    'a schema that is not there',
    ['explain', 'a', '--schema', 'schema.ts#none'],
    'schema.ts exports no schema "none"',
  ],
  ['no server', ['explain', 'a'], 'no server is named'],
  ['a URL that is none', ['explain', 'a', '--url', 'localhost'], 'the server’s URL is not one'],
  ['a URL of something else', ['explain', 'a', '--url', 'http://localhost'], 'http:// is no server’s URL'],
])('%s is a misuse, said in one line', async (_, words, said) => {
  const { code, err, out } = await keyspec(words)
  expect(err).toContain(said)
  expect(err.trimEnd().split('\n')).toHaveLength(1)
  expect([code, out]).toEqual([2, ''])
})

test('outside any project it says what to write', async () => {
  const { code, err } = await keyspec(['explain', 'a'], { cwd: '/' })
  expect([code, err]).toEqual([2, expect.stringContaining('there is no keyspec.config.ts here or above')])
})

test('a server that is down is exit code 3, and its password is nowhere', async () => {
  const { code, err, out } = await keyspec(['explain', 'a', '--url', 'redis://ann:hunter2@127.0.0.1:1'])
  expect(code).toBe(3)
  expect(err).toMatch(/^keyspec: redis:\/\/127\.0\.0\.1:1 cannot be reached: /)
  expect(err + out).not.toContain('hunter2')
})

test.each(['audit', 'explain a'])(
  'keyspec %s: a server that cannot be used is told within seconds, with what to do',
  async (command) => {
    await using redis = await startRedis({ port: 'any', config: { requirepass: 'secret' } })
    const host = `127.0.0.1:${redis.port}`
    for (const [url, words] of [
      ['redis://127.0.0.1:1', 'cannot be reached: connect ECONNREFUSED 127.0.0.1:1'],
      [
        `redis://${host}`,
        'cannot be reached: it asks for a password: give both in the URL, redis://user:password@',
      ],
      [
        `redis://:guess@${host}`,
        'cannot be reached: it refused the user or the password: give both in the URL',
      ],
      [`redis://:secret@${host}/99`, 'cannot be reached: '],
      ['unix:///nowhere/redis.sock', 'cannot be reached: connect ENOENT'],
    ] as const) {
      const start = performance.now()
      const { code, err } = await keyspec([...command.split(' '), '--url', url])
      expect([code, err], url).toEqual([3, expect.stringContaining(words)])
      expect(performance.now() - start, url).toBeLessThan(5_000)
    }
  },
)

test.each(['audit', 'explain a'])(
  'keyspec %s: a server that accepts the connection and never answers is given up',
  async (command) => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { code, err } = await keyspec([...command.split(' '), '--url', `redis://127.0.0.1:${port}`])
    server.close()
    expect([code, err]).toEqual([3, expect.stringMatching(/cannot be reached: .*no answer within (5|10) s/)])
  },
)

test('a URL whose database is no number or two is refused, and an empty REDIS_URL names no server', async () => {
  for (const [url, words] of [
    ['redis://127.0.0.1:1/three', 'the database in the server’s URL is a number'],
    ['rediss://127.0.0.1:1/0?db=1', 'the server’s URL names two databases'],
  ] as const) {
    const { code, err } = await keyspec(['audit', '--url', url])
    expect([code, err]).toEqual([2, expect.stringContaining(words)])
  }
  const { code, err } = await keyspec(['audit', '--schema', 'schema.ts'], { env: { REDIS_URL: '' } })
  expect([code, err]).toEqual([2, expect.stringContaining('no server is named')])
})

test('a connection that is lost on the way is exit code 3, and the line says what is known', async () => {
  // The server ends a connection whose replies grow beyond this.
  const config = { 'client-output-buffer-limit': 'normal 100000 0 0' }
  await using redis = await startRedis({ port: 'any', config })
  const long = 'x'.repeat(10_000)
  for (let at = 0; at < 50; at++) await redis.command('SET', `shop:session:${at}${long}`, '{}')
  const { code, err } = await keyspec(['audit', '--url', redis.url])
  expect(code).toBe(3)
  expect(err).toMatch(/^keyspec: the outcome of [A-Z]+ is unknown \(.+\): the server may have applied it/)
})
