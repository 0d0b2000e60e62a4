import { Ajv2020 } from 'ajv/dist/2020.js'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyspec } from '../../../../test-support/command-line.ts'
import { doctor } from './doctor.ts'

let redis: TemporaryRedis

beforeAll(async () => {
  redis = await startRedis({
    port: 'any',
    config: { maxmemory: '100mb', 'maxmemory-policy': 'volatile-lru', appendonly: 'yes' },
  })
})

afterAll(() => redis.stop())

const run = (...words: string[]) => keyspec(['doctor', ...words], { env: { REDIS_URL: redis.url } })

test('a server that fits ends with 0', async () => {
  expect(await run('--strict')).toMatchObject({ code: 0, err: 'the server fits the declaration\n' })
})

test('a server that does not ends with 1, and each finding has the command that fixes it', async () => {
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
  const { code, out, err } = await run()
  expect(code).toBe(1)
  expect(out).toMatch(
    /^error evicts-kept: allkeys-lru evicts, when memory is full, keys that must not be: stock, /m,
  )
  expect(out).toContain(`\n  redis-cli -p ${redis.port} CONFIG SET maxmemory-policy volatile-lru\n`)
  expect(out).toContain('\n  redis.conf: maxmemory-policy volatile-lru\n')
  expect(err).toBe('1 error, 0 warnings\n')
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru')
})

test('warnings end with 1 only when asked, and JSON is as its JSON Schema says', async () => {
  await redis.command('CONFIG', 'SET', 'maxmemory', '0')
  expect((await run()).code).toBe(0)
  const strict = await run('--strict', '--json')
  expect(strict.code).toBe(1)
  const validate = new Ajv2020().compile(doctor.json.schema)
  const lines = strict.json()
  for (const line of lines) expect(validate(line), JSON.stringify(validate.errors)).toBe(true)
  expect(lines).toContainEqual(expect.objectContaining({ code: 'maxmemory', severity: 'warning' }))
})

test('a password is never shown', async () => {
  await redis.command('ACL', 'SETUSER', 'ann', 'on', '>hunter2', '~*', '+@all', '-eval')
  const { code, out, err } = await run('--url', `redis://ann:hunter2@127.0.0.1:${redis.port}`)
  expect(code).toBe(1)
  // Who may give permissions is another user.
  expect(out).toContain(`redis-cli -p ${redis.port} ACL SETUSER ann +eval +evalsha`)
  expect(out).toContain(`redis-cli -p ${redis.port} --user ann --askpass CONFIG SET maxmemory`)
  expect(out + err).not.toContain('hunter2')
})
