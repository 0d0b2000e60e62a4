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

/** A job with how long it may be held. */
export interface Given {
  readonly job: Job
  readonly leaseMs: number
}

/** The work server, as a client sees it. Fails with `Refused` or `Unreachable`. */
export class WorkApi {
  readonly #url: string

  constructor(url: string) {
    this.#url = withoutEndSlashes(url)
  }

  /** A new client id. */
  async register(signal: AbortSignal): Promise<string> {
    const { client_id } = await this.#ask<{ client_id: number }>('GET', '/get_client_id', {}, { signal })
    return String(client_id)
  }

  /** The next job, or `undefined` where none waits; with `again` the one whose announcement may have been lost. */
  async next(client: string, again: boolean, signal: AbortSignal): Promise<Given | undefined> {
    const query = { client_id: client, ...(again ? { again: '1' } : {}) }
    try {
      const { job, lease_ms } = await this.#ask<{ job: Job; lease_ms: number }>('GET', '/get_job', query, {
        signal,
      })
      return { job, leaseMs: lease_ms }
    } catch (error) {
      if (error instanceof Refused && error.status === 403) return undefined
      throw error
    }
  }

  /** Brings the results of a job. */
  async results(client: string, body: object, signal: AbortSignal): Promise<void> {
    const headers = { 'Content-Type': 'application/json' }
    await this.#ask(
      'PUT',
      '/put_results',
      { client_id: client },
      { body: JSON.stringify(body), headers, signal },
    )
  }

  /** Brings one file of a job. */
  async file(
    client: string,
    id: string,
    directory: string,
    body: AsyncIterable<Uint8Array> | string,
    signal: AbortSignal,
  ): Promise<void> {
    const query = { client_id: client, job_id: id, directory }
    await this.#ask('PUT', '/put_file', query, { body, duplex: 'half', signal })
  }

  /** Keeps a job. */
  async renew(client: string, id: string, signal: AbortSignal): Promise<void> {
    await this.#ask('PUT', '/renew_job', { client_id: client, job_id: id }, { signal })
  }

  /** Gives a job back. */
  async giveBack(client: string, id: string): Promise<void> {
    const query = { client_id: client, job_id: id }
    await this.#ask('PUT', '/return_job', query, { signal: AbortSignal.timeout(3_000) })
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
