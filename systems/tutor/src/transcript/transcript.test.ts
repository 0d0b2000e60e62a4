import { serveStandIn } from '@keyspec-systems/model/stand-in'
import * as v from 'valibot'
import { expect, onTestFinished, test } from 'vitest'

import { YoutubeTranscript } from '../shape/cached.ts'
import { openTranscripts } from './endpoint.ts'
import { videoIdOf } from './provider.ts'

test('without a service the invented samples answer, and say so', async () => {
  const provider = openTranscripts({})
  expect(provider.name).toBe('embedded:samples')
  const transcript = await provider.transcript('tidemill001')
  expect(v.parse(YoutubeTranscript, transcript)).toMatchObject({
    title: 'How a tide mill works',
    duration: 212,
  })
  expect(await provider.transcript('dQw4w9WgXcQ')).toBeUndefined()
})

test('a service is asked over HTTP, again where that helps, and what it does not have is undefined', async () => {
  const known = {
    video_id: 'dQw4w9WgXcQ',
    title: 'T',
    channel: 'C',
    duration: 1,
    transcript: ['la'],
    more: true,
  }
  const standIn = await serveStandIn('stand-in for a transcript service', ({ url, headers }) => {
    if (headers.authorization !== 'Bearer t') return { status: 401, body: {} }
    return url.pathname === '/v1/dQw4w9WgXcQ' ? { body: known } : { status: 404, body: {} }
  })
  onTestFinished(() => standIn.close())
  const environment = { TRANSCRIPT_BASE_URL: `${standIn.url}/v1/`, TRANSCRIPT_TOKEN: 't' }
  const provider = openTranscripts(environment, { sleep: async () => {} })
  standIn.fail({ fault: 'unavailable' })
  const transcript = await provider.transcript('dQw4w9WgXcQ')
  expect(v.parse(YoutubeTranscript, transcript)).toMatchObject({ channel: 'C', transcript: ['la'] })
  expect(await provider.transcript('tidemill001')).toBeUndefined()
  standIn.fail({ fault: 'garbage' })
  await expect(provider.transcript('dQw4w9WgXcQ')).rejects.toMatchObject({ reason: 'unreadable' })
})

test.each([
  ['dQw4w9WgXcQ', 'dQw4w9WgXcQ'],
  ['https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=3', 'dQw4w9WgXcQ'],
  ['https://youtu.be/dQw4w9WgXcQ?si=x', 'dQw4w9WgXcQ'],
  ['https://m.youtube.com/shorts/dQw4w9WgXcQ', 'dQw4w9WgXcQ'],
  ['https://example.com/watch?v=dQw4w9WgXcQ', undefined],
  ['https://youtube.com/watch?v=short', undefined],
  ['not a video', undefined],
])('the video of "%s" is %s', (text, id) => {
  expect(videoIdOf(text)).toBe(id)
})
