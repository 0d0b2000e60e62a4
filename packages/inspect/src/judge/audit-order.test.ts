import { set, string, text } from 'keyspec'
import { expect, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { audit } from './audit.ts'

const { redis, connection } = await connected()

const schema = {
  few: string('few:<id>', text, { ttl: '1h' }),
  many: string('many:<id>', text, { ttl: '1h' }),
  also: string('also:<id>', text, { ttl: '1h' }),
  tags: set('tags:<id>', text, { ttl: '1h' }),
}

test('what is found comes worst first: errors, then what concerns more keys, then by pattern', async () => {
  const lines = [
    "for at = 1, 5 do redis.call('SET', 'many:' .. at, 'x') end",
    "for at = 1, 2 do redis.call('SET', 'few:' .. at, 'x') redis.call('SET', 'also:' .. at, 'x') end",
    "redis.call('SET', 'tags:1', 'no set', 'EX', 60)",
    "for at = 1, 9 do redis.call('SET', 'stray:' .. at, 'x') end",
    "for at = 10, 12 do redis.call('SET', 'few:' .. at, 'x', 'EX', 90000) end",
  ]
  await redis.command('EVAL', lines.join('\n'), '0')
  // In small steps, so that the server's order is not that of the answer.
  const steps = await all(audit(schema, connection, { maxLoad: 1, count: 3 }))
  const found = steps.flatMap(({ findings }) => findings)
  const told = found.map(({ severity, code, pattern, count }) => `${severity} ${code} ${pattern} ${count}`)
  expect(told).toEqual([
    'error no-ttl many:<id> 5',
    'error no-ttl also:<id> 2',
    'error no-ttl few:<id> 2',
    'error wrong-type tags:<id> 1',
    'warning unknown-key stray:<n> 9',
    'warning ttl-too-long few:<id> 3',
  ])
})
