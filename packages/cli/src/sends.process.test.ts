import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually, startRedis, type TemporaryRedis, unique } from 'keyspec/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixture, keyspec } from '../../../test-support/command-line.ts'
import { commands } from './command-list.ts'
import { sends } from './sends.ts'

const SCHEMA = ['--schema', join(fixture, 'every-type.ts#everyType')]

// URLs have users, and a server that makes a snapshot waits for no other replica.
const AS_A_PORT = { port: 'any', config: { 'repl-diskless-sync-delay': '0' } } as const

let redis: TemporaryRedis
let other: TemporaryRedis
let folder: string
beforeAll(async () => {
  ;[redis, other] = await Promise.all([startRedis(AS_A_PORT), startRedis(AS_A_PORT)])
  folder = await mkdtemp(join(tmpdir(), 'keyspec-'))
})
afterAll(async () => {
  await Promise.all([redis.stop(), other.stop(), rm(folder, { recursive: true })])
})

/** Keys of every type, some past their policy, one under two names. */
async function fill(prefix: string, server = redis): Promise<void> {
  const commands: readonly (readonly [name: string, key: string, ...rest: string[]])[] = [
    ['SET', 'session:1', '1', 'PX', '3600000'],
    ['SET', 'session:2', '2'],
    ['SET', 'session:3', '3', 'PX', '99999999'],
    ['SET', 'sess:4', '4', 'PX', '3600000'],
    ['SET', 'sess:5', '5', 'PX', '3600000'],
    ['SET', 'session:5', '5', 'PX', '3600000'],
    ['SET', 'session:long', '1'.repeat(1_100_000), 'PX', '3600000'],
    ['HSET', 'profile:1', 'visits', '2'],
    ['RPUSH', 'viewed:1', '1', '2'],
    ['SADD', 'tags:a', '1'],
    ['ZADD', 'ranking:1', '1', '7'],
    ['XADD', 'events', '*', 'at', '1'],
    ['SET', 'stock:a', '1'],
    ['RPUSH', 'mail:jobs:waiting', '1'],
    ['SET', 'stray', 'x'],
  ]
  for (const [name, key, ...rest] of commands) await server.command(name, prefix + key, ...rest)
  const untouched =
    "return redis.call('RESTORE', KEYS[1], '3600000', redis.call('DUMP', KEYS[1]), 'REPLACE', 'IDLETIME', '100')"
  await server.command('EVAL', untouched, '1', `${prefix}session:1`)
}

type Words = (prefix: string) => readonly string[] | Promise<readonly string[]>

const file = (prefix: string) => join(folder, `${prefix.replace(':', '')}.keyspec`)
const exported = async (prefix: string) => {
  const ran = await keyspec([
    'export',
    ...SCHEMA,
    '--url',
    redis.url,
    '--prefix',
    prefix,
    '--out',
    file(prefix),
  ])
  expect(ran.code, ran.err).toBe(0)
  return file(prefix)
}
const manifestAt1 = async (prefix: string) => {
  const { out } = await keyspec(['manifest', ...SCHEMA, '--prefix', prefix])
  const path = join(folder, `${prefix.replace(':', '')}.json`)
  await writeFile(path, out.replaceAll('"phase": 2', '"phase": 1'))
  return path
}

/** Every command that asks a server, in the ways that differ in what it sends. */
const ways: { readonly [tool: string]: readonly Words[] } = {
  'check --server': [async (prefix) => ['check', '--against', await manifestAt1(prefix), '--server']],
  audit: [() => ['audit'], () => ['audit', '--sample', '5', '--no-values'], () => ['audit', '--each']],
  'audit --snapshot': [() => ['audit', '--snapshot']],
  stats: [
    () => ['stats'],
    () => ['stats', '--sample', '3', '--brief'],
    () => ['stats', '--exact', '--subject', 'userId=1'],
  ],
  doctor: [() => ['doctor']],
  explain: [
    'session:1',
    'session:long',
    'sess:4',
    'profile:1',
    'viewed:1',
    'tags:a',
    'ranking:1',
    'events',
  ].map((key) => (prefix: string) => ['explain', prefix + key]),
  erase: [
    () => ['erase', '--all', '--yes'],
    () => ['erase', '--subject', 'userId=1', '--yes'],
    () => ['erase', '--entry', 'session', '--dry-run'],
  ],
  cleanup: [
    () => ['cleanup', '--repair', '--cap', '--yes'],
    () => ['cleanup', '--entry', 'session', '--idle', '50s', '--yes'],
  ],
  migrate: [
    () => ['migrate', 'plan'],
    () => ['migrate', 'run', '--keep', 'new', '--yes'],
    () => ['migrate', 'verify'],
    () => ['migrate', 'rollback', '--yes'],
  ],
  export: [
    (prefix) => ['export', '--out', `${file(prefix)}.out`],
    (prefix) => ['export', '--subject', 'userId=1', '--out', `${file(prefix)}.out`],
  ],
  'stats --snapshot': [() => ['stats', '--snapshot']],
  import: [
    async (prefix) => [
      'import',
      await exported(prefix),
      '--strip',
      prefix,
      '--add',
      `${prefix}new:`,
      '--yes',
    ],
    async (prefix) => ['import', await exported(prefix), '--on-conflict', 'replace', '--yes'],
  ],
  copy: [
    () => ['copy', '--to', other.url, '--yes'],
    () => ['copy', '--to', other.url, '--dry-run', '--subject', 'userId=1'],
  ],
  diff: [() => ['diff', other.url], async (prefix) => ['diff', await exported(prefix)]],
}

/** What the server is sent meanwhile by others than the admin, in scripts and outside: commands, with their subcommands. */
async function monitored(server: TemporaryRedis, act: () => Promise<unknown>): Promise<Set<string>> {
  const socket = connect(server.socket)
  let heard = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (heard += chunk))
  socket.write('MONITOR\r\n')
  await eventually(() => expect(heard).toContain('+OK'))
  await act()
  const end = unique()
  await server.command('ECHO', end)
  await eventually(() => expect(heard).toContain(end))
  socket.destroy()
  const found = new Set<string>()
  for (const line of heard.split('\r\n')) {
    const [, name, sub] = /\] "(\w+)"(?: "(\w+)")?/.exec(line) ?? []
    if (name === undefined || name.toUpperCase() === 'ECHO') continue
    const upper = name.toUpperCase()
    found.add(CONTAINERS.has(upper) ? `${upper} ${sub!.toUpperCase()}` : upper)
  }
  return found
}
/** Commands whose second word is one of their names. */
const CONTAINERS = new Set([
  'ACL',
  'CLIENT',
  'CLUSTER',
  'CONFIG',
  'MEMORY',
  'OBJECT',
  'SCRIPT',
  'SLOWLOG',
  'XINFO',
  'XGROUP',
])

/** The tools by the server that they ask; \`copy --to\` asks another one than \`copy\`. */
const asked = Object.entries({ ...ways, 'copy --to': ways['copy']! }).filter(([tool]) => tool in sends)

test('every command that asks a server says what it sends', () => {
  const heads = new Set(Object.keys(sends).map((line) => line.split(' ')[0]))
  expect([...heads, 'manifest', 'docs'].sort()).toEqual(Object.keys(commands).sort())
  expect(asked.map(([tool]) => tool).sort()).toEqual(Object.keys(sends).sort())
})

/** Runs a tool in all its ways, as a user of the server that it asks; the outcomes, and what that server was sent. */
async function runAll(tool: string, user?: string) {
  const login = (server: TemporaryRedis) =>
    user === undefined ? server.url : `redis://${user}:secret@127.0.0.1:${server.port}`
  const asks = tool === 'copy --to' ? other : redis
  const codes: number[] = []
  const seen = new Set<string>()
  let said = ''
  for (const words of asked.find(([name]) => name === tool)![1]) {
    const prefix = `${unique()}:`
    await fill(prefix)
    if (!tool.startsWith('copy')) await fill(prefix, other)
    const line = [...(await words(prefix)), ...SCHEMA, '--prefix', prefix]
    if (tool === 'copy --to') line[line.indexOf(other.url)] = login(other)
    if (tool !== 'doctor') line.push('--max-load', '1')
    line.push('--url', tool === 'copy --to' ? redis.url : login(redis))
    const sent = await monitored(asks, async () => {
      const { code, out, err } = await keyspec(line)
      codes.push(code)
      said += out + err
    })
    for (const each of sent) if (!OF_THE_CLIENT.has(each)) seen.add(each)
  }
  return { codes, seen, said }
}

// Nobody needs a permission for the first two, and node-redis does without the third.
const OF_THE_CLIENT = new Set(['HELLO', 'AUTH', 'CLIENT SETINFO'])

/** What a tool may send and MONITOR does not show here: why not. */
const NOT_SHOWN: { readonly [command: string]: string } = {
  EVALSHA: 'a script that runs once is an EVAL',
  'ACL CAT': 'commands of administrators are not shown',
  'ACL GETUSER': 'commands of administrators are not shown',
  'ACL WHOAMI': 'commands of administrators are not shown',
  'CONFIG GET': 'commands of administrators are not shown',
  'SLOWLOG LEN': 'commands of administrators are not shown',
  PSYNC: 'commands of administrators are not shown',
  REPLCONF: 'commands of administrators are not shown',
  GET: 'for a user without scripts, in place of GETRANGE',
  PEXPIRETIME: 'Redis 6.2 does not know it',
  PTTL: 'for servers without PEXPIRETIME',
  TIME: 'for servers without PEXPIRETIME',
  TYPE: 'for dumps of types that Keyspec does not know',
}

test.each(Object.keys(sends))(
  'a user who may send what %s is said to send can run it, and it sends no less',
  async (tool) => {
    const server = tool === 'copy --to' ? other : redis
    const { codes, seen } = await runAll(tool)
    const declared = sends[tool]!
    expect([...seen].filter((each) => !declared.includes(each))).toEqual([])
    expect(declared.filter((each) => !seen.has(each) && !(each in NOT_SHOWN))).toEqual([])

    const name = unique()
    const knows = (await server.command('COMMAND', 'INFO', 'PEXPIRETIME')) as readonly unknown[]
    const known = declared.filter((each) => each !== 'PEXPIRETIME' || knows[0] !== null)
    const rules = known.map((each) => `+${each.toLowerCase().replace(' ', '|')}`)
    await server.command('ACL', 'SETUSER', name, 'on', '>secret', '~*', '-@all', ...rules)
    const ran = await runAll(tool, name)
    expect(ran.said).not.toMatch(/could not be asked|does not say what it evicts/)
    // What a doctor says of the permissions of the schema is an error here.
    if (tool !== 'doctor') expect(ran.codes).toEqual(codes)
  },
)

test('keyspec doctor says what its user may run, and each line that it prints lets it run one thing more', async () => {
  const name = unique()
  const prefix = `${unique()}:`
  await fill(prefix)
  const url = `redis://${name}:secret@127.0.0.1:${redis.port}`
  const explains = sends['explain']!.map((each) => `+${each.toLowerCase().replace(' ', '|')}`)
  await redis.command('ACL', 'SETUSER', name, 'on', '>secret', `~${prefix}*`, ...explains)
  await redis.command('ACL', 'SETUSER', name, '+eval', '+evalsha', '+acl|whoami', '+acl|getuser', '+acl|cat')
  const examine = async () => {
    const { json } = await keyspec(['doctor', '--json', ...SCHEMA, '--prefix', prefix, '--url', url])
    const found = json().find(({ message }) => /may not run keyspec/.test(message as string))
    return found as { message: string; severity: string; commands: string[] } | undefined
  }
  let found = await examine()
  expect(found).toMatchObject({ severity: 'info' })
  expect(found!.message).toBe(
    `the user ${name} may not run ${Object.keys(sends)
      .filter((line) => line !== 'explain')
      .map((line) => `keyspec ${line}`)
      .join(', ')}; it may run keyspec explain`,
  )
  const audit = () => keyspec(['audit', ...SCHEMA, '--prefix', prefix, '--url', url, '--max-load', '1'])
  expect((await audit()).code).toBe(3)
  // As it is printed, through a shell and redis-cli: it names the server.
  const pasted = async (line: string) =>
    expect((await promisify(execFile)('sh', ['-c', line])).stdout, line).toBe('OK\n')
  for (const tool of Object.keys(sends).filter((line) => line !== 'explain')) {
    const line = found!.commands.find((each) => each.endsWith(`  # keyspec ${tool}`))
    // Another line may have let it run this too.
    if (line === undefined) expect(found!.message).toMatch(new RegExp(`; it may run .*keyspec ${tool}(,|$)`))
    else await pasted(line)
    found = await examine()
    expect(found?.message.split(';')[0] ?? '').not.toMatch(new RegExp(`keyspec ${tool}(,|$)`))
    if (tool === 'audit') expect((await audit()).code).toBe(1)
    if (found === undefined) break
  }
  expect(found).toBeUndefined()
})
