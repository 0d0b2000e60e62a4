import { request } from 'node:http'
import { startRedis } from 'keyspec/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { survived } from '../../../../test-support/hostile-http.ts'
import { openDocuments } from '../keyspace.ts'
import { openBroker } from '../worker/broker.ts'
import { serveBoard } from './board.ts'

test('the board shows the queues on this machine alone, and changes nothing', async () => {
  const redis = await startRedis()
  const opened = await openDocuments(redis.url)
  const broker = openBroker(opened.client)
  const board = await serveBoard(broker)
  onTestFinished(async () => {
    await board.close()
    await broker.close()
    opened.close()
    await redis.stop()
  })
  expect(new URL(board.url).hostname).toBe('127.0.0.1')
  const shown = (await (await fetch(`${board.url}api/queues`)).json()) as { queues: { name: string }[] }
  expect(shown.queues.map(({ name }) => name)).toEqual(['default', 'ocr', 'text', 'entity'])
  expect((await fetch(`${board.url}api/queues/ocr/pause`, { method: 'PUT' })).status).toBe(405)
  expect(await broker.queues.ocr.isPaused()).toBe(false)
  expect(await statusFor(board.url, 'elsewhere.example')).toBe(421)

  expect(await survived(board.url)).toEqual([])

  // Whatever its page asks other hosts for, a browser is told to load nothing from them.
  const page = await fetch(board.url)
  expect(await page.text()).toContain('<title>Bull Dashboard</title>')
  const policy = page.headers.get('Content-Security-Policy')!.split('; ')
  expect(policy).toContain("default-src 'self'")
  expect(policy.flatMap((rule) => rule.split(' ').slice(1)).filter((from) => !own.includes(from))).toEqual([])
})

test('the board answers a failure without its words, and says what every answer says', async () => {
  const redis = await startRedis()
  const opened = await openDocuments(redis.url)
  const broker = openBroker(opened.client)
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const board = await serveBoard(broker)
  onTestFinished(async () => {
    log.mockRestore()
    await board.close()
    await broker.close()
    opened.close()
    await redis.stop()
  })
  const shown = await fetch(`${board.url}api/queues`)
  expect([shown.status, shown.headers.get('x-content-type-options')]).toEqual([200, 'nosniff'])
  await redis.command('SET', broker.queues.ocr.toKey('wait'), 'no list')
  const failed = await fetch(`${board.url}api/queues?activeQueue=ocr&status=waiting`)
  expect([failed.status, await failed.json()]).toEqual([
    500,
    { type: 'about:blank', title: 'Internal Server Error', status: 500, detail: 'The board failed' },
  ])
  expect(failed.headers.get('cache-control')).toBe('no-store')
  // BullMQ logs the error itself too.
  const lines = log.mock.calls.filter(([line]) => typeof line === 'string')
  expect(lines).toEqual([[expect.stringContaining('WRONGTYPE')]])
})

/** What a policy may allow: none of it is another host. */
const own = ["'self'", "'none'", "'unsafe-inline'", 'data:']

/** The status of a request that names another host. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, (response) => resolve(response.resume().statusCode))
      .once('error', reject)
      .end()
  })
}
