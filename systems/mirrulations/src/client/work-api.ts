import { withoutEndSlashes } from '@keyspec-systems/program/end-slashes'
import type { Job } from '../job.ts'

/** The work server's answer was no: the job is not ours (any more), or what we sent is not taken. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number

  constructor(status: number, message: string) {
    super(`the work server answered ${status}: ${message}`)
    this.status = status
  }
}

/** The work server could not be reached, or could not serve: asking again may help. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/** A client, and the token that proves it. */
export interface Registered {
  readonly id: string
  /** None from a work server of before. */
  readonly token: string | undefined
}

/** A job with how long it may be held, and what proves that this client was given it. */
export interface Given {
  readonly client: string
  readonly job: Job
  readonly leaseMs: number
  readonly token: string | undefined
}

/** The work server, as a client sees it. Fails with `Refused` or `Unreachable`. */
export class WorkApi {
  readonly #url: string

  constructor(url: string) {
    this.#url = withoutEndSlashes(url)
  }

  /** A new client. */
  async register(signal: AbortSignal): Promise<Registered> {
    const { client_id, token } = await this.#ask<{ client_id: number; token?: string }>(
      'GET',
      '/v1/get_client_id',
      {},
      { signal },
    )
    return { id: String(client_id), token }
  }

  /** The next job, or `undefined` where none waits; with `again` the one whose announcement may have been lost. */
  async next({ id, token }: Registered, again: boolean, signal: AbortSignal): Promise<Given | undefined> {
    const query = { client_id: id, ...(again ? { again: '1' } : {}) }
    try {
      const given = await this.#ask<{ job: Job; lease_ms: number; token?: string }>(
        'GET',
        '/v1/get_job',
        query,
        {
          headers: bearer(token),
          signal,
        },
      )
      return { client: id, job: given.job, leaseMs: given.lease_ms, token: given.token }
    } catch (error) {
      if (error instanceof Refused && error.status === 403) return undefined
      throw error
    }
  }

  /** Brings the results of a job. */
  async results(given: Given, body: object, signal: AbortSignal): Promise<void> {
    const headers = { 'Content-Type': 'application/json' }
    const results = JSON.stringify({ job_id: given.job.job_id, ...body })
    await this.#askFor(given, '/v1/put_results', {}, { body: results, headers, signal })
  }

  /** Brings one file of a job. */
  async file(
    given: Given,
    directory: string,
    body: AsyncIterable<Uint8Array> | string,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#askFor(given, '/v1/put_file', { directory }, { body, duplex: 'half', signal })
  }

  /** Keeps a job. */
  async renew(given: Given, signal: AbortSignal): Promise<void> {
    await this.#askFor(given, '/v1/renew_job', {}, { signal })
  }

  /** Gives a job back. */
  async giveBack(given: Given): Promise<void> {
    await this.#askFor(given, '/v1/return_job', {}, { signal: AbortSignal.timeout(3_000) })
  }

  async #askFor(
    { client, job, token }: Given,
    path: string,
    query: Readonly<Record<string, string>>,
    init: Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> },
  ): Promise<void> {
    await this.#ask(
      'PUT',
      path,
      { client_id: client, job_id: String(job.job_id), ...query },
      { ...init, headers: { ...init.headers, ...bearer(token) } },
    )
  }

  async #ask<T>(
    method: string,
    path: string,
    query: Readonly<Record<string, string>>,
    init: RequestInit,
  ): Promise<T> {
    const url = `${this.#url}${path}?${new URLSearchParams(query).toString()}`
    let response: Response
    let body: unknown
    try {
      response = await fetch(url, { ...init, method })
      body = await response.json()
    } catch (cause) {
      init.signal?.throwIfAborted()
      throw new Unreachable(`the work server could not be reached: ${(cause as Error).message}`, { cause })
    }
    if (response.ok) return body as T
    const { error } = body as { error?: string }
    if (response.status >= 500) throw new Unreachable(`the work server answered ${response.status}: ${error}`)
    throw new Refused(response.status, error ?? 'no reason given')
  }
}

function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { Authorization: `Bearer ${token}` }
}
