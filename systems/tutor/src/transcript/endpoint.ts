import { withoutEndSlashes } from '@keyspec-systems/program/end-slashes'
import type { Environment } from '@keyspec-systems/model'
import { requestJson, Secret, UpstreamError, type Patience } from '@keyspec-systems/model/http'
import * as v from 'valibot'

import { YoutubeTranscript } from '../shape/cached.ts'
import { instantOf } from '../shape/instant.ts'
import { embeddedTranscripts } from './embedded.ts'
import type { TranscriptProvider } from './provider.ts'

/**
 * Transcripts from `TRANSCRIPT_BASE_URL` (`GET <base>/<videoId>`, with `TRANSCRIPT_TOKEN` as bearer where set, answering
 * `video_id`, `title`, `channel`, `duration` and `transcript`), otherwise the embedded samples. YouTube itself has no
 * public API for transcripts.
 */
export function openTranscripts(environment: Environment, patience: Patience = {}): TranscriptProvider {
  const base = environment['TRANSCRIPT_BASE_URL']?.trim()
  if (!base) return embeddedTranscripts()
  const token = environment['TRANSCRIPT_TOKEN']?.trim()
  return {
    name: new URL(base).host,
    async transcript(videoId, signal) {
      const url = `${withoutEndSlashes(base)}/${encodeURIComponent(videoId)}`
      const request = {
        service: 'the transcript service',
        url,
        token: token ? new Secret(token) : undefined,
        schema,
        signal,
      }
      try {
        return { ...(await requestJson(request, patience)), fetched_at: instantOf(new Date()) }
      } catch (error) {
        if (error instanceof UpstreamError && error.reason === 'missing') return undefined
        throw error
      }
    },
  }
}

const schema = v.object(v.omit(YoutubeTranscript, ['fetched_at']).entries)
