import { retried, type RetryOptions } from '@keyspec-systems/program/retry'
import * as v from 'valibot'

import { Docket, DocketList } from './docket.ts'
import { getJson } from './get.ts'
import { withoutEndSlashes } from '@keyspec-systems/program/end-slashes'
import { UpstreamError } from '@keyspec-systems/program/upstream'

// Where the API is, unless COURTLISTENER_BASE_URL says otherwise.
export const defaultBaseUrl = 'https://www.courtlistener.com/api/rest/v4'

/** Token, address and patience of a client of CourtListener. */
export interface CourtListenerOptions extends RetryOptions {
  /** From the profile page of courtlistener.com; sent as a header to the API alone, never shown. */
  readonly token: string
  readonly baseUrl?: string
  /** How long one answer may take; 30,000 unless told. */
  readonly timeoutMs?: number
  /**
   * Runs before every request, retries included, to charge it to a quota. Where it rejects, nothing is sent, and the call
   * rejects with its error.
   */
  readonly admit?: () => Promise<void>
}

/** What to select dockets by, as the API names it: `court`, `id__gt`, `date_filed__gte`, `order_by` and so on. */
export type DocketFilter = Readonly<Record<string, string | number>>

/** One page of dockets. */
export interface DocketPage {
  readonly dockets: readonly Docket[]
  /** Where the next page begins; undefined on the last. */
  readonly cursor: string | undefined
}

/** What to list, and from where on. */
export interface DocketsOptions {
  readonly filter?: DocketFilter
  /** The cursor of an earlier page of the same filter, to go on after it. */
  readonly cursor?: string | undefined
  readonly signal?: AbortSignal
}

/** A client of the CourtListener API, version 4 (https://www.courtlistener.com/help/api/rest/). Fails with `UpstreamError`. */
export interface CourtListener {
  readonly baseUrl: string
  /** The dockets that a filter selects, page by page, each page one request. */
  dockets(options?: DocketsOptions): AsyncGenerator<DocketPage>
  /** One docket by its id. */
  docket(id: number | string, signal?: AbortSignal): Promise<Docket>
}

/** Token and address from `COURTLISTENER_TOKEN` and `COURTLISTENER_BASE_URL`. */
export function courtListenerSettings(
  env: Readonly<Record<string, string | undefined>>,
): Pick<CourtListenerOptions, 'token' | 'baseUrl'> {
  const token = env['COURTLISTENER_TOKEN']?.trim() ?? ''
  if (token === '') {
    throw new Error('COURTLISTENER_TOKEN is not set; the token is in your profile at courtlistener.com')
  }
  const baseUrl = env['COURTLISTENER_BASE_URL']?.trim() ?? ''
  return baseUrl === '' ? { token } : { token, baseUrl }
}

/** A client of CourtListener, or of its stand-in where the base URL says so. */
export function openCourtListener(options: CourtListenerOptions): CourtListener {
  const { token, timeoutMs = 30_000, admit } = options
  // What a header may hold; the token itself must not show in an error.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new Error('COURTLISTENER_TOKEN is empty or holds characters that no token has')
  }
  const baseUrl = checkedBaseUrl(options.baseUrl ?? defaultBaseUrl)

  async function get<T>(path: string, schema: v.GenericSchema<unknown, T>, signal?: AbortSignal): Promise<T> {
    const url = `${baseUrl}${path}`
    const attempt = async () => {
      signal?.throwIfAborted()
      await admit?.()
      return getJson({ url, token, timeoutMs, signal })
    }
    const parsed = v.safeParse(schema, await retried(attempt, options, { signal, askedMs }))
    if (parsed.success) return parsed.output
    const [issue] = parsed.issues
    const what = `not the shape of the API's version 4: ${v.getDotPath(issue) ?? 'the answer'}: ${issue.message}`
    throw new UpstreamError('unreadable', { url }, what, { isPassing: false })
  }

  return {
    baseUrl,
    async *dockets({ filter = {}, cursor, signal } = {}) {
      const query = new URLSearchParams()
      for (const [name, value] of Object.entries(filter)) query.set(name, String(value))
      if (cursor !== undefined) query.set('cursor', cursor)
      for (;;) {
        const { results, next } = await get(
          `/dockets/${query.size === 0 ? '' : `?${query.toString()}`}`,
          DocketList,
          signal,
        )
        // Of the address that the server gives only the cursor is taken: the token goes nowhere else than the base URL.
        const following = next === null ? undefined : (new URL(next).searchParams.get('cursor') ?? undefined)
        yield { dockets: results, cursor: following }
        if (following === undefined) return
        query.set('cursor', following)
      }
    },
    async docket(id, signal) {
      if (!/^\d{1,15}$/.test(String(id))) throw new RangeError(`a docket's id is a whole number, not "${id}"`)
      return get(`/dockets/${id}/`, Docket, signal)
    },
  }
}

function askedMs(error: unknown): number | undefined {
  return error instanceof UpstreamError && error.isPassing ? (error.retryAfterMs ?? 0) : undefined
}

function checkedBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '') {
    throw new Error(
      `COURTLISTENER_BASE_URL is not an http or https URL without user and query: "${redacted(text)}"`,
    )
  }
  return withoutEndSlashes(url.href)
}

// A token may have been put into the URL by mistake.
function redacted(text: string): string {
  return text.replace(/\/\/[^/@]*@/, '//…@').replace(/\?.*/, '?…')
}
