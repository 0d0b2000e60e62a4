import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { escapeKey, unescapeKey, type Remedy } from '@keyspec/inspect'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from 'keyspec/testing'
import { commandLines, confLines, remedyLines, remedyText } from './remedy.ts'
import { HERE } from './place.ts'
import { keyOperand, redisCli, shellWord } from './shell.ts'

const sh = async (line: string) => (await promisify(execFile)('sh', ['-c', line])).stdout

const HOSTILE = [
  'plain',
  "it's",
  'a b',
  '$(id)',
  '`id`',
  'a;b',
  '*',
  '-x',
  '"',
  '\\',
  'é…',
  'a\\x00b',
  'new\\nline',
  '',
]

test.each(HOSTILE)('a shell reads %j as one word again', async (word) => {
  expect(await sh(`printf '[%s]' ${shellWord(word)}`)).toBe(`[${word}]`)
})

test('redis-cli reads every key again as escapeKey shows it, bytes among them', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const keys = [...HOSTILE.filter((key) => key !== ''), '\u0000\u0001', '\r\n\t'].map((key) =>
    Buffer.from(key),
  )
  keys.push(Buffer.from([0xff, 0x00, 0x80, 0x22, 0x5c, 0x27]))
  for (const key of keys) await redis.command('SET', key, 'x', 'EX', '60')
  for (const key of keys) {
    const [line] = redisLines({ kind: 'persist', key: escapeKey(key) })
    expect(await sh(line!.replace('redis-cli', `redis-cli -s ${redis.socket}`)), line).toBe('1\n')
    expect(await redis.command('TTL', key)).toBe(-1)
  }
})

/** The command line in the text of a remedy. */
function redisLines(remedy: Remedy): string[] {
  return [remedyText(remedy, HERE).replace(', and find out who gives it a time to live', '')]
}

test('a key is an operand of keyspec, whatever it begins with', async () => {
  for (const key of HOSTILE.filter((each) => each !== '')) {
    const words = (await sh(`printf '%s\\0' ${keyOperand(escapeKey(Buffer.from(key)))}`)).split('\0')
    expect(unescapeKey(words.at(-2)!).toString()).toBe(key)
    if (key.startsWith('-')) expect(words[0]).toBe('--')
  }
})

const REMEDIES: readonly [Remedy, readonly string[]][] = [
  [{ kind: 'explain', key: 'a' }, ['keyspec explain a']],
  [
    { kind: 'declare', under: 'a b:' },
    [
      "declare it in the schema: as external() if another program writes it; keyspec stats --by prefix --under 'a b:' shows more",
    ],
  ],
  [
    { kind: 'declare', under: '-a b:' },
    [
      "declare it in the schema: as external() if another program writes it; keyspec stats --by prefix '--under=-a b:' shows more",
    ],
  ],
  [{ kind: 'give-ttl', entry: '-e' }, ['keyspec cleanup --entry=-e --repair']],
  [{ kind: 'migrate', entry: '-e' }, ['keyspec migrate run --entry=-e']],
  [{ kind: 'declare', under: '' }, ['declare it in the schema: as external() if another program writes it']],
  [{ kind: 'give-ttl', entry: 'e' }, ['keyspec cleanup --entry e --repair']],
  [{ kind: 'cap-ttl', entry: 'e' }, ['keyspec cleanup --entry e --cap']],
  [{ kind: 'persist', key: 'a' }, ['redis-cli PERSIST a, and find out who gives it a time to live']],
  [{ kind: 'migrate', entry: 'e' }, ['keyspec migrate run --entry e']],
  [
    { kind: 'stop-then-migrate', entry: 'e' },
    ['stop the programs that know only the old name, then keyspec migrate run --entry e --keep new'],
  ],
  [{ kind: 'verify-migration' }, ['keyspec migrate verify']],
  [{ kind: 'look-for-evidence' }, ['keyspec check --against manifest.json --server']],
  [{ kind: 'see-biggest', entry: 'e' }, ['keyspec stats --entry e shows the biggest']],
  [{ kind: 'repair', entry: 'e' }, ['repair() of e, in a program that opens the schema']],
  [{ kind: 'erase', entry: 'e' }, ['keyspec erase --entry e --dry-run']],
  [{ kind: 'examine' }, ['keyspec doctor says which policy fits; or give these keys a server of their own']],
  [{ kind: 'connect-cluster' }, ['keyspec doctor --cluster']],
  [
    {
      kind: 'configure',
      settings: [
        { parameter: 'save', value: '' },
        { parameter: 'appendonly', value: 'no' },
      ],
    },
    ['redis-cli CONFIG SET save ""', 'redis-cli CONFIG SET appendonly no'],
  ],
  [
    { kind: 'allow', user: undefined, rules: ['~a:*', '+get'] },
    ["redis-cli ACL SETUSER '<user>' '~a:*' +get"],
  ],
  [
    { kind: 'allow', user: 'u', rules: ['+get'], tool: 'keyspec audit' },
    ['redis-cli ACL SETUSER u +get  # keyspec audit'],
  ],
  [{ kind: 'send', command: ['PING'], to: '10.0.0.1:6379' }, ['redis-cli -h 10.0.0.1 -p 6379 PING']],
  [{ kind: 'send', command: ['SLOWLOG', 'GET', '10'] }, ['redis-cli SLOWLOG GET 10']],
  [{ kind: 'check-cluster' }, ['redis-cli --cluster check 127.0.0.1:6379']],
  [{ kind: 'fix-cluster' }, ['redis-cli --cluster fix 127.0.0.1:6379']],
  [{ kind: 'set-clock' }, ['timedatectl set-ntp true']],
]

test.each(REMEDIES)('%j is printed as what does it', (remedy, lines) => {
  expect(remedyLines(remedy, HERE)).toEqual(lines)
  const run = commandLines(remedy, HERE)
  if (run.length > 0) expect(run).toEqual(lines)
})

test('what keeps it so stands in redis.conf', () => {
  expect(
    confLines({
      kind: 'configure',
      settings: [
        { parameter: 'save', value: '' },
        { parameter: 'maxmemory', value: '1gb' },
      ],
    }),
  ).toEqual(['save ""', 'maxmemory 1gb'])
  expect(confLines({ kind: 'allow', user: 'u', rules: ['+get', '~a'] })).toEqual(['user u … +get ~a'])
  expect(confLines({ kind: 'set-clock' })).toEqual([])
})

test('redis-cli gets plain words as they are', () => {
  expect(redisCli(['PERSIST'], { key: 'a' })).toBe('redis-cli PERSIST a')
})
