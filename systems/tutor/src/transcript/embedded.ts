import * as v from 'valibot'

import { sample } from '../resource/sample.ts'
import { YoutubeTranscript } from '../shape/cached.ts'
import { instantOf } from '../shape/instant.ts'
import type { TranscriptProvider } from './provider.ts'

/** The invented transcripts that ship in `samples/transcripts.json`. */
export function embeddedTranscripts(): TranscriptProvider {
  const transcripts = v.parse(v.array(Sample), JSON.parse(sample('transcripts.json').toString()))
  const byId = new Map(transcripts.map((each) => [each.video_id, each]))
  return {
    name: 'embedded:samples',
    async transcript(videoId) {
      const found = byId.get(videoId)
      return found && { ...found, fetched_at: instantOf(new Date()) }
    },
  }
}

const Sample = v.omit(YoutubeTranscript, ['fetched_at'])
