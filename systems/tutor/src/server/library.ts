import { createHash } from 'node:crypto'

import type { Tutor } from '../keyspace.ts'
import type { Resource } from '../resource/resource.ts'
import type { OcrEntry, WebPage, YoutubeTranscript } from '../shape/cached.ts'
import type { TranscriptProvider } from '../transcript/provider.ts'
import { videoIdOf } from '../transcript/provider.ts'
import type { Reader } from '../reading/reader.ts'
import { extractUpload, type Upload } from '../upload/extract-text.ts'
import type { Ocr } from '../upload/ocr.ts'
import type { DownloadLimits } from '../web/download.ts'
import { normaliseUrl } from '../web/normalise-url.ts'
import { readPage } from '../web/read-page.ts'
import { Problem } from '@keyspec-systems/program/http'

/** What the library reads with. */
export interface LibraryOptions {
  readonly keys: Tutor
  readonly ocr: Ocr
  /** Reads pages and files in processes of their own. */
  readonly reader: Reader
  readonly transcripts: TranscriptProvider
  /** How web pages are downloaded. */
  readonly pages?: DownloadLimits
}

/** What was read, and the id under which a session names it. */
export interface Read<T> {
  readonly resourceId: string
  readonly content: T
}

/**
 * What sessions learn from, read once and cached: files, web pages, transcripts. A session names them as
 * `ocr:<sha256>:<name>`, `web:<url>` and `youtube:<videoId>`.
 */
export class Library {
  readonly #options: LibraryOptions

  constructor(options: LibraryOptions) {
    this.#options = options
  }

  /** The text of a file: from `cache:ocr`, or read now. */
  async file(upload: Upload, signal?: AbortSignal): Promise<Read<OcrEntry>> {
    const { keys } = this.#options
    const contentHash = createHash('sha256').update(upload.body).digest('hex')
    const content = await keys
      .ocr({ contentHash: { digest: contentHash } })
      .getOrLoad((signal) => extractUpload(upload, this.#options, signal), asked(signal))
    return { resourceId: `ocr:${contentHash}:${upload.name}`, content }
  }

  /** A web page: from `web`, or read now. */
  async page(address: string, signal?: AbortSignal): Promise<Read<WebPage>> {
    const url = normaliseUrl(address)
    const { keys } = this.#options
    const content = await keys
      .web({ urlHash: url })
      .getOrLoad((signal) => readPage(url, this.#options, signal), asked(signal))
    return { resourceId: `web:${url}`, content }
  }

  /** The transcript of a video: from `youtube`, or fetched now. */
  async video(text: string, signal?: AbortSignal): Promise<Read<YoutubeTranscript>> {
    const videoId = videoIdOf(text)
    if (videoId === undefined) throw new Problem(400, `"${text}" names no YouTube video`)
    const { keys, transcripts } = this.#options
    const content = await keys
      .youtube({ videoId })
      .getOrLoad((signal) => transcripts.transcript(videoId, signal), asked(signal))
    if (content === undefined) throw new Problem(404, `There is no transcript of the video ${videoId}`)
    return { resourceId: `youtube:${videoId}`, content }
  }

  /**
   * The resources that a session names, and the names of those that cannot be had now: a file whose text has expired, a
   * page that is gone, a name of somebody else's.
   */
  async resources(
    ids: readonly string[],
    signal?: AbortSignal,
  ): Promise<{ readonly resources: Resource[]; readonly missing: string[] }> {
    const found = await Promise.all(ids.map((id) => this.#resource(id, signal).catch(() => undefined)))
    return {
      resources: found.flatMap((resource) => resource ?? []),
      missing: ids.filter((_, at) => found[at] === undefined),
    }
  }

  async #resource(id: string, signal?: AbortSignal): Promise<Resource | undefined> {
    const [, kind, rest] = /^(ocr|web|youtube):(.+)$/s.exec(id) ?? []
    if (kind === 'web') {
      const { content } = await this.page(rest!, signal)
      return { id, kind: 'web', title: content.title, text: content.content }
    }
    if (kind === 'youtube') {
      const { content } = await this.video(rest!, signal)
      return { id, kind: 'video', title: content.title, text: content.transcript.join(' ') }
    }
    const [, digest, name] = /^([0-9a-f]{64}):(.*)$/s.exec(rest ?? '') ?? []
    if (kind !== 'ocr' || digest === undefined) return undefined
    const file = await this.#options.keys.ocr({ contentHash: { digest } }).get()
    return file && { id, kind: 'file', title: titleOf(name!), text: file.text }
  }
}

function asked(signal: AbortSignal | undefined) {
  return signal === undefined ? {} : { signal }
}

/** `salt-roads.md` is about `salt roads`. */
function titleOf(name: string): string {
  return name.replace(/\.\w+$/, '').replaceAll(/[-_]+/g, ' ')
}
