import { openModel } from '@keyspec-systems/model'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

import {
  nestedHtml,
  pdfBomb,
  pdfOfManyForms,
  shortly,
  tightly,
} from '../../../../test-support/hostile-documents.ts'
import { openTutor, type Opened } from '../keyspace.ts'
import { openReader, type Reader } from '../reading/reader.ts'
import { openTranscripts } from '../transcript/endpoint.ts'
import { openOcr } from '../upload/ocr.ts'
import { tutorServer } from './tutor-server.ts'

let redis: TemporaryRedis
let opened: Opened

beforeAll(async () => {
  redis = await startRedis()
  opened = openTutor({ redisUrl: redis.url }, { log: () => {} })
  await opened.connected
})

afterAll(async () => {
  opened.close()
  await redis.stop()
})

let users = 0

/** A service that reads with this, and a user of it. */
async function service(reader: Reader) {
  const [ocr, transcripts] = [openOcr({}), openTranscripts({})]
  const server = tutorServer({ opened, model: openModel({}), ocr, reader, transcripts, log: () => {} })
  const { url, close } = await server.listen()
  onTestFinished(async () => {
    await close()
    reader.close()
  })
  const user = `mallory-${(users += 1)}`
  const headers = { 'Content-Type': 'application/json' }
  await fetch(`${url}/sessions`, { method: 'POST', body: JSON.stringify({ user_id: user }), headers })
  // As bytes: of text `fetch` says that it is plain.
  const upload = (name: string, body: string | Uint8Array) =>
    fetch(`${url}/sessions/${user}/files?name=${name}`, { method: 'POST', body: Buffer.from(body) })
  return { url, upload }
}

test.each([
  ['nested.html', shortly, () => nestedHtml, 'longer than is allowed'],
  ['forms.pdf', shortly, pdfOfManyForms, 'longer than is allowed'],
  ['bomb.pdf', tightly, pdfBomb, 'more memory than is allowed'],
])('%s is refused in the end, and meanwhile the service answers', async (name, limits, make, why) => {
  const { url, upload } = await service(openReader(limits))
  let isRead = false
  const answer = upload(name, make()).finally(() => (isRead = true))
  for (let time = 0; time < 3; time += 1) expect((await fetch(`${url}/livez`)).status).toBe(200)
  expect(isRead).toBe(false)
  const response = await answer
  expect(response.status).toBe(422)
  expect(((await response.json()) as { detail: string }).detail).toContain(why)
  const next = await upload('after.html', `<p>The tide turns after ${name}.</p>`)
  expect(await next.json()).toMatchObject({ content: { text: `The tide turns after ${name}.` } })
})

test('a document for which there is no process to read it may come again', async () => {
  const reader = openReader({ processes: 1, waiting: 0, deadlineMs: 60_000 })
  const { upload } = await service(reader)
  const stop = new AbortController()
  const holding = reader
    .read('html', [nestedHtml], { signal: stop.signal })
    .catch((error: Error) => error.message)
  const refused = await upload('other.html', '<p>The tide turns.</p>')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  stop.abort(new Error('enough'))
  expect(await holding).toBe('enough')
  expect((await upload('other.html', '<p>The tide turns.</p>')).status).toBe(200)
})
