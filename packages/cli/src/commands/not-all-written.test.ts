import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { keyspec } from '../../../../test-support/command-line.ts'

let here: TemporaryRedis
let there: TemporaryRedis
let folder: string
beforeAll(async () => {
  ;[here, there] = await Promise.all([startRedis(), startRedis({ port: 'any' })])
  folder = await mkdtemp(join(tmpdir(), 'keyspec-not-all-'))
})
afterAll(() => Promise.all([here.stop(), there.stop(), rm(folder, { recursive: true })]))
beforeEach(async () => {
  await Promise.all([here.command('FLUSHALL'), there.command('FLUSHALL')])
  for (const id of [1, 2, 3]) await here.command('SET', `shop:stock:${id}`, '7')
})

const file = () => join(folder, 'keys.keyspec')
const from = (server: TemporaryRedis) => ({ REDIS_URL: server.url })

const ways: readonly (readonly [string, () => string[], () => TemporaryRedis])[] = [
  ['import', () => ['import', file()], () => there],
  ['copy', () => ['copy', '--to', there.url], () => here],
]

test.each(ways)(
  '%s says that not all was written, if a key came to be there after the preview',
  async (name, words, server) => {
    await keyspec(['export', '--out', file(), '--force'], { env: from(here) })
    const written = await keyspec(words(), {
      env: from(server()),
      // The preview has been shown, and found nothing in the way.
      async answer() {
        await there.command('SET', 'shop:stock:2', 'newer')
        return name
      },
    })
    expect(written.err).toContain('not all: shop:stock:2 came to be there after the preview')
    expect(written.code).toBe(1)
    expect(await there.command('MGET', 'shop:stock:1', 'shop:stock:2', 'shop:stock:3')).toEqual([
      '7',
      'newer',
      '7',
    ])
  },
)

test.each(ways)(
  '%s that was told to leave what is there has written all that it should',
  async (name, words, server) => {
    await keyspec(['export', '--out', file(), '--force'], { env: from(here) })
    const written = await keyspec([...words(), '--on-conflict', 'skip'], {
      env: from(server()),
      async answer() {
        await there.command('SET', 'shop:stock:2', 'newer')
        return name
      },
    })
    expect(written.err).not.toContain('not all')
    expect(written.code).toBe(0)
  },
)
