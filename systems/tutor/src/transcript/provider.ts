import type { YoutubeTranscript } from '../shape/cached.ts'

/** Where transcripts of videos come from. */
export interface TranscriptProvider {
  /** `embedded:…` where nothing is fetched. */
  readonly name: string
  /** The transcript of a video by its id; undefined where there is none. */
  transcript(videoId: string, signal?: AbortSignal): Promise<YoutubeTranscript | undefined>
}

/** The id in a YouTube address, or the id itself; undefined where there is none. */
export function videoIdOf(text: string): string | undefined {
  const trimmed = text.trim()
  if (/^[\w-]{11}$/.test(trimmed)) return trimmed
  if (!URL.canParse(trimmed)) return undefined
  const url = new URL(trimmed)
  const host = url.hostname.replace(/^(?:www|m|music)\./, '')
  if (host === 'youtu.be') return idIn(url.pathname.slice(1))
  if (host !== 'youtube.com' && host !== 'youtube-nocookie.com') return undefined
  const inPath = /^\/(?:embed|shorts|live|v)\/([^/]+)/.exec(url.pathname)?.[1]
  return idIn(inPath ?? url.searchParams.get('v') ?? '')
}

function idIn(text: string): string | undefined {
  return /^[\w-]{11}$/.test(text) ? text : undefined
}
