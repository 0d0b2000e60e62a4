import { keyspaceTable } from '@keyspec-systems/program'
import { expect, onTestFinished, test } from 'vitest'

import { openMovies } from '../keyspace.ts'
import { startCacheServer } from './cache-server.ts'

test('the server is a pure cache, and the table tells of other keys in the environment, and of none outside', async () => {
  const redis = await startCacheServer()
  const opened = openMovies({
    url: redis.url,
    environment: 'prod',
    dimensions: 4,
    log: { info: () => {}, warn: () => {} },
  })
  onTestFinished(async () => {
    opened.close()
    await redis.stop()
  })
  const config = (await redis.command('CONFIG', 'GET', 'maxmemory*', 'save', 'appendonly')) as string[]
  expect(config).toContain('volatile-lru')
  expect(config[config.indexOf('maxmemory') + 1]).toBe(String(450 * 1024 * 1024))
  expect(config[config.indexOf('save') + 1]).toBe('')
  expect(config[config.indexOf('appendonly') + 1]).toBe('no')

  await opened.ready()
  await opened.keys.trending().replace([1, 2])
  await redis.command('SET', 'prod:stray', 'x')
  await redis.command('SADD', 'staging:trending:current', '1')
  const lines = await keyspaceTable(opened.schema, opened.connection, 'prod:')
  const cells = (name: string) => lines.find((line) => line.startsWith(name))?.split(/ {2,}/)
  expect(cells('trending')).toMatchObject(['trending', 'prod:trending:current', 'set', 'forever', '1', /\d+/])
  expect(cells('(unknown)')?.[1]).toBe('1')
  expect(cells('total')?.[1]).toBe('2')
})
