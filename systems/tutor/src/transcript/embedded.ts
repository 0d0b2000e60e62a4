import { readFileSync } from 'node:fs'

import * as v from 'valibot'

import { YoutubeTranscript } from '../shape/cached.ts'
import { instantOf } from '../shape/instant.ts'
import type { TranscriptProvider } from './provider.ts'

/** The invented transcripts that ship in `samples/transcripts.json`. */
export function embeddedTranscripts(): TranscriptProvider {
  const file = new URL('../../samples/transcripts.json', import.meta.url)
  const samples = v.parse(v.array(Sample), JSON.parse(readFileSync(file, 'utf8')))
  const byId = new Map(samples.map((sample) => [sample.video_id, sample]))
  return {
    name: 'embedded:samples',
    async transcript(videoId) {
      const sample = byId.get(videoId)
      return sample && { ...sample, fetched_at: instantOf(new Date()) }
    },
  }
}

const Sample = v.omit(YoutubeTranscript, ['fetched_at'])
