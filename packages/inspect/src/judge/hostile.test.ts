import { type Connection, integer, set, string, text } from 'keyspec'
import type { TemporaryRedis } from 'keyspec/testing'
import { beforeAll, expect, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { audit } from './audit.ts'
import { explain } from './explain.ts'
import { stats } from '../measure/stats.ts'

const schema = {
  // A codec that does not say that no text can be wrong: its values are read.
  page: string('page:<path*>', { ...text, total: false }, { ttl: '1h' }),
  members: set('members:<id>', integer, { ttl: '1h' }),
}

const HOSTILE = [
  '',
  '\n',
  '*',
  '[a-z]?\\',
  'page:',
  ':',
  '::::::::::::',
  '<id>',
  '%d',
  '__proto__',
  'constructor:1',
  '\u202Etxt',
]
const BINARY = Buffer.from([0xff, 0, 0x3a, 0xfe])

let redis: TemporaryRedis
let connection: Connection

beforeAll(async () => {
  ;({ redis, connection } = await connected())
  for (const name of HOSTILE) await redis.command('SET', name, 'x')
  await redis.command('SET', BINARY, 'x')
  await redis.command('SETRANGE', 'page:large', 10 * 2 ** 20, 'x')
  await redis.command('SET', 'x'.repeat(2 ** 20), 'x')
  const million = `for from = 1, 1e6, 1000 do
    local members = {}
    for at = 1, 1000 do members[at] = from + at - 1 end
    redis.call('SADD', 'members:all', unpack(members))
  end`
  await redis.command('EVAL', million, '0')
  // Prefixes without end, none of them an id.
  const word = "string.gsub(tostring(at), '%d', function(digit) return string.char(97 + digit) end)"
  await redis.command('EVAL', `for at = 1, 20000 do redis.call('SET', ${word} .. ':x', 'x') end`, '0')
  await redis.command('RPUSH', 'page:list', 'x')
}, 60_000)

const total = HOSTILE.length + 20_000 + 5

test('an audit finds each of them once, shows them on one line, and reads no more than it may', async () => {
  const auditing = audit(schema, connection, { maxLoad: 1 })
  const findings = (await all(auditing)).flatMap((step) => step.findings)
  expect(await auditing).toMatchObject({ keys: total, decoded: 2, notDecoded: 1 })
  const strays = findings.filter(({ code }) => code === 'unknown-key')
  expect(strays.reduce((sum, { count }) => sum + count, 0)).toBe(total - 3)
  expect(strays.length).toBeLessThanOrEqual(201)
  expect(strays.find(({ pattern }) => pattern === '<name>:x')!.count).toBeGreaterThanOrEqual(20_000)
  expect(strays.find(({ pattern }) => pattern === '<bytes>:<bytes>')).toMatchObject({
    samples: [String.raw`\xff\x00:\xfe`],
  })
  expect(findings.find(({ code }) => code === 'wrong-type')).toMatchObject({
    detail: 'list',
    samples: ['page:list'],
  })
  expect(findings.find(({ entry }) => entry === 'members')).toMatchObject({ code: 'no-ttl', count: 1 })
  for (const { samples, pattern } of findings) {
    // eslint-disable-next-line no-control-regex
    expect(`${samples.join('')}${pattern}`).not.toMatch(/[\u0000-\u001f\u202e]/)
    for (const sample of samples) expect(sample.length).toBeLessThan(1100)
  }
})

test('statistics count each of them, and name the biggest', async () => {
  const { all, groups, biggest } = await stats(schema, connection, { maxLoad: 1, exact: true, by: 'prefix' })
  expect(all.keys.value).toBe(total)
  expect(groups.length).toBeLessThanOrEqual(501)
  expect(groups.reduce((sum, { keys }) => sum + keys.value, 0)).toBe(total)
  expect(
    biggest
      .slice(0, 2)
      .map(({ key }) => String(key))
      .sort(),
  ).toEqual(['members:all', 'page:large'])
})

test('each can be explained', async () => {
  for (const key of [...HOSTILE.map((name) => Buffer.from(name)), BINARY]) {
    const { seen, value, owned } = await explain(schema, connection, key)
    expect([seen?.type, owned, value?.parts[0]?.stored]).toEqual(['string', undefined, Buffer.from('x')])
  }
  const members = await explain(schema, connection, Buffer.from('members:all'))
  expect(members.value).toMatchObject({ count: 1_000_000, omitted: 0 })
  expect(members.value!.parts.length).toBeLessThan(100)
  const large = await explain(schema, connection, Buffer.from('page:large'))
  expect(large.value).toMatchObject({ count: 10 * 2 ** 20 + 1, omitted: 1 })
})
