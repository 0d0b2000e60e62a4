import { expect, onTestFinished, test } from 'vitest'
import { keyspec } from '../../../test-support/command-line.ts'
import { startSentinels } from '../../../test-support/sentinel.ts'

test('given a Sentinel, works on the master that it names', async () => {
  const watched = await startSentinels()
  onTestFinished(() => watched.stop())
  await (await watched.master()).command('SET', 'shop:stock:a-1', '7')
  const url = `redis://127.0.0.1:${watched.sentinels[0]!.port}`

  const explained = await keyspec(['explain', 'shop:stock:a-1', '--sentinel', watched.name, '--url', url])
  expect([explained.code, explained.err]).toEqual([0, ''])
  expect(explained.out).toContain('stock')

  const erased = await keyspec([
    'erase',
    '--entry',
    'stock',
    '--yes',
    '--json',
    '--sentinel',
    watched.name,
    '--url',
    url,
  ])
  expect(erased.code).toBe(0)
  expect(await (await watched.master()).command('EXISTS', 'shop:stock:a-1')).toBe(0)

  const unknown = await keyspec(['explain', 'shop:stock:a-1', '--sentinel', 'nobody', '--url', url])
  expect(unknown.code).toBe(3)
})
