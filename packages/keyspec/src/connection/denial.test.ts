import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startRedis, type TemporaryRedis } from '../testing/index.ts'
import { denialOf } from './denial.ts'
import { ServerError } from './server-error.ts'

interface Refused {
  readonly reply: string
  readonly command: readonly string[]
  readonly keys?: readonly string[]
  readonly rules: readonly string[]
}

// Every wording of a missing permission, as the source of each server has it (acl.c, server.c, script.c or scripting.c,
// multi.c), so that each holds with whatever server runs the tests.
const EXEC =
  'NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. ' +
  'This command is no longer allowed for the following reason: '
const RAISED = 'ERR Error running script (call to f_104a): @user_script:1: @user_script: 1: '
const wordings: Readonly<Record<string, readonly Refused[]>> = {
  'Redis 6.2, of a command': [
    {
      reply: "NOPERM this user has no permissions to run the 'time' command or its subcommand",
      command: ['TIME'],
      rules: ['+time'],
    },
    {
      reply: "NOPERM this user has no permissions to run the 'config' command or its subcommand",
      command: ['CONFIG', 'GET', 'save'],
      rules: ['+config|get'],
    },
  ],
  'Redis 7.0, of a command': [
    {
      reply: "NOPERM this user has no permissions to run the 'config|get' command",
      command: ['CONFIG', 'GET', 'save'],
      rules: ['+config|get'],
    },
  ],
  'Redis 7.2 and later and Valkey, of a command': [
    {
      reply: "NOPERM User u has no permissions to run the 'config|get' command",
      command: ['CONFIG', 'GET'],
      rules: ['+config|get'],
    },
    {
      reply: "NOPERM User channel-key has no permissions to run the 'get' command",
      command: ['GET', 'a'],
      keys: ['a'],
      rules: ['+get'],
    },
  ],
  'Redis 6.2 and 7.0, of a key or a channel': [
    {
      reply: 'NOPERM this user has no permissions to access one of the keys used as arguments',
      command: ['GET', 'a*'],
      keys: ['a*'],
      rules: ['~a\\*'],
    },
    {
      reply: 'NOPERM this user has no permissions to access one of the channels used as arguments',
      command: ['PUBLISH', 'c', 'm'],
      rules: ['&c'],
    },
  ],
  'Redis 7.2 and later and Valkey, of a key or a channel': [
    { reply: 'NOPERM No permissions to access a key', command: ['GET', 'a'], keys: ['a'], rules: ['%R~a'] },
    {
      reply: 'NOPERM No permissions to access a key',
      command: ['EVALSHA'],
      keys: ['a', 'b'],
      rules: ['~a', '~b'],
    },
    { reply: 'NOPERM No permissions to access a channel', command: ['PUBLISH', 'c', 'm'], rules: ['&c'] },
  ],
  'all, in EXEC': [
    {
      reply: `${EXEC}no permission to execute the command or subcommand`,
      command: ['GET', 'a'],
      keys: ['a'],
      rules: ['+get'],
    },
    {
      reply: `${EXEC}no permission to execute the command or subcommand`,
      command: ['CONFIG', 'GET', 'save'],
      rules: ['+config|get'],
    },
    {
      reply: `${EXEC}no permission to execute the command or subcommand`,
      command: ['EVALSHA'],
      keys: ['a'],
      rules: [],
    },
    {
      reply: `${EXEC}no permission to touch the specified keys`,
      command: ['GET', 'a'],
      keys: ['a'],
      rules: ['~a'],
    },
    {
      reply: `${EXEC}no permission to access one of the channels used as arguments`,
      command: ['PUBLISH', 'c', 'm'],
      rules: ['&c'],
    },
    { reply: `${EXEC}no permission`, command: ['GET', 'a'], keys: ['a'], rules: [] },
  ],
  'Redis 6.2, in a script': [
    {
      reply: `${RAISED}The user executing the script can't run this command or subcommand`,
      command: ['EVALSHA'],
      keys: ['k'],
      rules: [],
    },
    {
      reply: `${RAISED}The user executing the script can't access at least one of the keys mentioned in the command arguments`,
      command: ['EVALSHA'],
      keys: ['k'],
      rules: ['~k'],
    },
    {
      reply: `${RAISED}The user executing the script can't publish to the channel mentioned in the command`,
      command: ['EVALSHA'],
      keys: ['k'],
      rules: ['&k'],
    },
    {
      reply: `${RAISED}The user executing the script is lacking the permissions for the command`,
      command: ['EVALSHA'],
      keys: ['k'],
      rules: [],
    },
    {
      // The error of `redis.pcall`, returned by the script.
      reply: "@user_script: 6: The user executing the script can't run this command or subcommand",
      command: ['EVALSHA'],
      keys: ['k'],
      rules: [],
    },
  ],
  'Redis 7.0, in a script': [
    {
      reply:
        "ERR The user executing the script can't run this command or subcommand script: 104a, on @user_script:1.",
      command: ['EVALSHA'],
      keys: ['k'],
      rules: [],
    },
    {
      reply:
        "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments " +
        'script: 104a, on @user_script:1.',
      command: ['EVALSHA'],
      keys: ['k'],
      rules: ['~k'],
    },
    {
      reply:
        "ERR The user executing the script can't publish to the channel mentioned in the command script: 104a, on @user_script:1.",
      command: ['EVALSHA'],
      keys: ['k'],
      rules: ['&k'],
    },
    {
      reply: 'ERR The user executing the script lacking the permissions for the command',
      command: ['EVALSHA'],
      keys: ['k'],
      rules: [],
    },
  ],
  'Redis 7.2 and later and Valkey, in a script': [
    {
      reply:
        "ERR ACL failure in script: User u has no permissions to run the 'time' command script: 104a, on @user_script:1.",
      command: ['EVALSHA'],
      keys: ['k'],
      rules: ['+time'],
    },
    {
      reply: "ERR ACL failure in script: User u has no permissions to run the 'object|encoding' command",
      command: ['EVALSHA'],
      keys: ['k'],
      rules: ['+object|encoding'],
    },
    {
      reply: 'ERR ACL failure in script: No permissions to access a key script: 104a, on @user_script:1.',
      command: ['EVALSHA'],
      keys: ['k'],
      rules: ['~k'],
    },
    {
      reply: 'ERR ACL failure in script: No permissions to access a channel script: 104a, on @user_script:1.',
      command: ['EVALSHA'],
      keys: ['k'],
      rules: ['&k'],
    },
  ],
}

describe.each(Object.entries(wordings))('%s', (_, refusals) => {
  test.each(refusals)('$reply', ({ reply, command, keys = [], rules }) => {
    const denial = denialOf(reply, command, keys)
    expect(denial?.rules).toEqual(rules)
    const { code, message } = new ServerError(reply, command[0]!, keys[0], undefined, { denial })
    expect(code).toBe('E_DENIED')
    expect(message).toContain(
      rules.length === 0
        ? 'compare its ACL rules'
        : `: ACL SETUSER ${denial?.user ?? '<user>'} ${rules.join(' ')})`,
    )
  })
})

const others = [
  'WRONGTYPE Operation against a key holding the wrong kind of value',
  'ERR unknown command',
  '@user_script: 6: -OOM command not allowed when used memory > maxmemory',
  '@user_script: 6: Unknown Redis command called from Lua script',
  'ERR Script attempted to access a non local key in a cluster node',
]

test.each(others)('no missing permission: %s', (reply) => {
  expect(denialOf(reply, ['GET'], ['k'])).toBeUndefined()
  expect(new ServerError(reply, 'GET', 'k').code).not.toBe('E_DENIED')
})

describe('scripts that go on after an error do so after no denial:', () => {
  let redis: TemporaryRedis
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  const denials = Object.entries(wordings)
    .filter(([where]) => where.endsWith('in a script'))
    .flatMap(([, refusals]) => refusals.map(({ reply }) => reply))

  test.each(['scan', 'values'])('inspect/%s.lua', async (name) => {
    const source = readFileSync(join(import.meta.dirname, `../../../inspect/src/scan/${name}.lua`), 'utf8')
    const [isDenied] = /local function isDenied\(reply\)\n.*?\nend\n/s.exec(source) ?? []
    const tell = (reply: string) =>
      redis.command('EVAL', `${isDenied} return isDenied({err = ARGV[1]}) and 'denied' or 'other'`, 0, reply)
    for (const reply of denials) expect([reply, await tell(reply)]).toEqual([reply, 'denied'])
    for (const reply of others) expect([reply, await tell(reply)]).toEqual([reply, 'other'])
  })
})
