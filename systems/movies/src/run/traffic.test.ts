import { createServer, type RequestListener } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

import { expect, onTestFinished, test } from 'vitest'

import { traffic } from './traffic.ts'

/** Visitors of a search that answers as the test says; one turn after another until the least number of turns is done. */
async function visit(answer: RequestListener, signal = new AbortController().signal) {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url!)
    answer(request, response)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const report = await traffic({ url, visitors: 2, durationMs: 0, signal, random: () => 0 })
  return { report, paths }
}

test('each visitor searches, and looks at a film that was found', async () => {
  const { report, paths } = await visit((_, response) => response.end('{"results":[{"movieId":7}]}'))
  expect(new Set(paths)).toEqual(new Set(['/search?q=trending%20comedies', '/movie/7']))
  expect(paths.filter((path) => path === '/movie/7')).toHaveLength(10)
  expect(report).toMatchObject({ requests: 20, failures: 0 })
  expect(report.p99Ms).toBeGreaterThanOrEqual(report.medianMs)
})

test('what is not answered, or not well, is a failure', async () => {
  let asked = 0
  const { report } = await visit((_, response) => {
    asked += 1
    if (asked % 2 === 0) response.destroy()
    else response.writeHead(503).end('{}')
  })
  expect(report.failures).toBe(10)
})

test('visitors who are told to go leave at once, and that is no failure', async () => {
  const stop = new AbortController()
  const { report, paths } = await visit(() => stop.abort(), stop.signal)
  expect(report).toMatchObject({ requests: 0, failures: 0 })
  expect(paths.length).toBeLessThanOrEqual(2)
})
