import { withoutEndSlashes } from '@keyspec-systems/program/end-slashes'
import * as v from 'valibot'

import { DetailAnswer, ListAnswer } from './answer.ts'
import { listing, type Page } from './listing.ts'
import type { Kind } from './record-kind.ts'
import { readText, requester, type Answer, type Call, type RequestOptions } from './request.ts'
import { UpstreamError } from '@keyspec-systems/program/upstream'

/** Where the API is, unless `REGULATIONS_BASE_URL` says otherwise. */
export const defaultBaseUrl = 'https://api.regulations.gov/v4'

/** Key, address and patience of a client of regulations.gov. */
export interface RegulationsOptions extends RequestOptions {
  /** From https://api.data.gov/signup; sent as a header to the API alone, never shown. */
  readonly apiKey: string
  readonly baseUrl?: string
  /** How long a list or a record may take; 30,000 unless told. */
  readonly timeoutMs?: number
  /** How long a whole download may take; 300,000 unless told. */
  readonly downloadTimeoutMs?: number
  /** The largest file to download, in bytes; 256 MiB unless told. */
  readonly maxFileBytes?: number
  /**
   * Which addresses of files may be on the private network. Unless told, those of the API itself, where it is a stand-in
   * there: records name addresses that anybody may have written.
   */
  readonly mayBePrivate?: (url: URL) => boolean
  /** Records a page, 5 to 250; 250 unless told. */
  readonly pageSize?: number
}

/** One docket, document or comment in full. */
export interface Item {
  readonly kind: Kind
  readonly id: string
  readonly agencyId: string | undefined
  readonly docketId: string | undefined
  /** Its own content files first, then its attachments. */
  readonly files: readonly FileLink[]
  /** The whole answer as it came, to be stored. */
  readonly json: unknown
}

/** A file that belongs to an item. */
export interface FileLink {
  readonly url: string
  readonly format: string | undefined
  /** Bytes, as far as the API says. */
  readonly size: number | undefined
}

/** What is left of the hourly limit, as the last answer said. */
export interface Rate {
  readonly limit: number
  readonly remaining: number
}

/** A client of the regulations.gov API, version 4 (https://open.gsa.gov/api/regulationsgov/). Fails with `UpstreamError`. */
export interface Regulations {
  readonly baseUrl: string
  /**
   * Everything of one kind modified at `since` or later, oldest first, page by page. Each page carries the watermark to
   * go on from. Every record comes at least once, and again only when it was modified meanwhile.
   *
   * @param since UTC, `YYYY-MM-DD HH:MM:SS`; from the beginning without it.
   */
  pages(kind: Kind, since?: string, signal?: AbortSignal): AsyncGenerator<Page>
  /** How many records of a kind there are. */
  total(kind: Kind, signal?: AbortSignal): Promise<number>
  /** One record in full, by the URL that its page gave. */
  fetchItem(url: string, signal?: AbortSignal): Promise<Item>
  /** Gives a file's bytes to `take`, anew from the start on each try, so `take` must begin again when called again. */
  download<T>(
    url: string,
    take: (body: AsyncIterable<Uint8Array>) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>
  /** Undefined until the API has answered once. */
  rate(): Rate | undefined
}

/** Key and address from `REGULATIONS_API_KEY` and `REGULATIONS_BASE_URL`. */
export function regulationsSettings(env: Readonly<Record<string, string | undefined>>): RegulationsOptions {
  const apiKey = env['REGULATIONS_API_KEY']?.trim()
  if (apiKey === undefined || apiKey === '') {
    throw new Error(
      'REGULATIONS_API_KEY is not set; get a key at https://api.data.gov/signup, or try DEMO_KEY',
    )
  }
  const baseUrl = env['REGULATIONS_BASE_URL']?.trim()
  return baseUrl === undefined || baseUrl === '' ? { apiKey } : { apiKey, baseUrl }
}

/** A client of regulations.gov, or of its stand-in where the base URL says so. */
export function openRegulations(options: RegulationsOptions): Regulations {
  const { apiKey, timeoutMs = 30_000, downloadTimeoutMs = 300_000, maxFileBytes = 268_435_456 } = options
  const { pageSize = 250 } = options
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new Error('the API key is empty or holds characters that no key has')
  if (!Number.isInteger(pageSize) || pageSize < 5 || pageSize > 250) {
    throw new RangeError(`a page holds 5 to 250 records, not ${pageSize}`)
  }
  const baseUrl = checkedBaseUrl(options.baseUrl ?? defaultBaseUrl)
  const { origin } = new URL(baseUrl)
  const { mayBePrivate = (url: URL) => url.origin === origin } = options
  const request = requester(options)
  let rate: Rate | undefined

  async function get<T>(url: string, schema: v.GenericSchema<unknown, T>, signal?: AbortSignal) {
    const headers = { 'X-Api-Key': apiKey, Accept: 'application/vnd.api+json, application/json' }
    const call: Call = { url, headers, redirect: 'manual', timeoutMs, maxBytes: maxAnswerBytes, signal }
    const json = await request(call, async (answer) => {
      rate = rateIn(answer.headers) ?? rate
      return readJson(url, answer)
    })
    const parsed = v.safeParse(schema, json)
    if (parsed.success) return { json, value: parsed.output }
    const issue = parsed.issues[0]
    const where = v.getDotPath(issue) ?? 'the answer'
    throw new UpstreamError(
      'unreadable',
      { url },
      `not the shape of regulations.gov v4: ${where}: ${issue.message}`,
    )
  }

  const list = async (kind: Kind, query: Readonly<Record<string, string>>, signal?: AbortSignal) => {
    const { value } = await get(
      `${baseUrl}/${kind}?${new URLSearchParams(query).toString()}`,
      ListAnswer,
      signal,
    )
    return value
  }

  return {
    baseUrl,
    pages: (kind, since, signal) =>
      listing({ kind, baseUrl, pageSize, since, list: (q) => list(kind, q, signal) }),
    total: async (kind, signal) => (await list(kind, { 'page[size]': '5' }, signal)).meta.totalElements,
    async fetchItem(url, signal) {
      if (!isBelow(url, baseUrl)) {
        throw new UpstreamError(
          'refused',
          { url },
          `not a URL of ${baseUrl}, the only place the API key is sent to`,
        )
      }
      const { json, value } = await get(url, DetailAnswer, signal)
      return itemOf(value, json)
    },
    async download(url, take, signal) {
      if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
        throw new UpstreamError('refused', { url }, 'not an http or https URL')
      }
      const call = { url, headers: {}, timeoutMs: downloadTimeoutMs, maxBytes: maxFileBytes, signal }
      return request({ ...call, redirect: 'follow', mayBePrivate }, ({ body }) => take(body))
    },
    rate: () => rate,
  }
}

// A page of 250 comments has about 100 kB, the longest comments some megabytes.
const maxAnswerBytes = 16_777_216

async function readJson(url: string, { body }: Answer): Promise<unknown> {
  const text = await readText(body)
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw new UpstreamError(
      'unreadable',
      { url },
      `an answer that is not JSON: ${JSON.stringify(text.slice(0, 60))}`,
      {
        cause,
      },
    )
  }
}

/** What a detailed answer says of its record and of the files that belong to it. */
export function itemOf({ data, included }: DetailAnswer, json: unknown): Item {
  const { agencyId, docketId, fileFormats } = data.attributes
  const formats = [fileFormats, ...(included ?? []).map((each) => each.attributes?.fileFormats)]
  return {
    kind: data.type,
    id: data.id,
    agencyId: agencyId ?? undefined,
    docketId: docketId ?? undefined,
    // An attachment that is withheld is listed without a file or without its URL.
    files: formats
      .flatMap((each) => each ?? [])
      .flatMap(({ fileUrl, format, size }) =>
        typeof fileUrl === 'string'
          ? [{ url: fileUrl, format: format ?? undefined, size: size ?? undefined }]
          : [],
      ),
    json,
  }
}

function rateIn(headers: Headers): Rate | undefined {
  const limit = headers.get('x-ratelimit-limit')
  const remaining = headers.get('x-ratelimit-remaining')
  if (limit === null || remaining === null) return undefined
  return { limit: Number(limit), remaining: Number(remaining) }
}

function checkedBaseUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new Error(
      `REGULATIONS_BASE_URL is "${text}"; it must be an http or https URL such as ${defaultBaseUrl}`,
    )
  }
  const { origin, pathname } = new URL(text)
  return `${origin}${withoutEndSlashes(pathname)}`
}

function isBelow(url: string, baseUrl: string): boolean {
  if (!URL.canParse(url)) return false
  const { origin, pathname, username, password } = new URL(url)
  return `${origin}${pathname}`.startsWith(`${baseUrl}/`) && username === '' && password === ''
}
