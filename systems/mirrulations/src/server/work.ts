import { stat } from 'node:fs/promises'
import * as v from 'valibot'
import { attachmentJobs, type Job } from '../job.ts'
import type { Mirrulations } from '../keyspace.ts'
import { relativeDirectory, safePath, UnsafePathError } from '../storage/safe-path.ts'
import type { Store } from '../storage/store.ts'
import { DetailAnswer } from '../upstream/answer.ts'
import { itemOf } from '../upstream/regulations.ts'
import { Problem } from '@keyspec-systems/program/http'

/** What a client sends when it has done a job. */
export const Results = v.looseObject({
  job_id: v.union([v.pipe(v.number(), v.integer()), v.pipe(v.string(), v.regex(/^\S+$/))]),
  /** Where the record is to be stored. */
  directory: v.optional(v.string()),
  /** The record, or `{ "error": … }` where it cannot be had; for an attachment `{ "files": […] }`, which were put before. */
  results: v.optional(v.unknown()),
  error: v.optional(v.unknown()),
})

/** What the work server does for clients, whatever the way they ask. Fails with a `Problem`. */
export class Work {
  readonly #keys: Mirrulations
  readonly #store: Store

  constructor(keys: Mirrulations, store: Store) {
    this.#keys = keys
    this.#store = store
  }

  /** A client id that nobody else has. */
  async newClient(): Promise<number> {
    return this.#keys.clients().next()
  }

  /** The id of a client that has one; else 401. */
  async client(given: string | null): Promise<string> {
    if (given === null || given === '') throw new Problem(401, 'Client ID was not provided')
    const last = (await this.#keys.clients().current()) ?? 0
    if (!/^[1-9]\d*$/.test(given) || Number(given) > last) throw new Problem(401, 'Invalid client ID')
    return given
  }

  /** The next job for a client; with `again` the one that it was given before and may not have heard of. */
  async next(client: string, again: boolean): Promise<Job> {
    const held = again ? await this.#keys.jobs().held(client) : []
    const [taken] = held.length > 0 ? held : await this.#keys.jobs().take(client)
    if (taken === undefined) throw new Problem(403, 'There are no jobs available')
    return taken.job
  }

  /** The job as it is in progress with this client; else 403. */
  async held(client: string, id: string): Promise<Job> {
    const running = await this.#keys.jobs().running(id)
    if (running === undefined) throw new Problem(403, 'The job being completed was not in progress')
    if (running.worker !== client)
      throw new Problem(403, 'The client ID was incorrect: another client has the job')
    return running.job
  }

  /** Stores what a client has fetched, queues the files that belong to it, and counts the job as done, once. */
  async finish(client: string, body: v.InferOutput<typeof Results>): Promise<'done' | 'invalid'> {
    const id = String(body.job_id)
    const job = await this.held(client, id)
    const error = errorIn(body)
    if (error !== undefined) {
      this.#expect(await this.#keys.jobs().fail(client, [id], error))
      console.error(`job ${id} is invalid: ${error} (${job.url})`)
      return 'invalid'
    }
    const done = job.job_type === 'attachments' ? await this.#files(job, body) : await this.#record(body)
    this.#expect(await this.#keys.jobs().complete(client, { id, ...done }))
    return 'done'
  }

  /** Stores one file of a job that the client holds. */
  async file(
    client: string,
    id: string,
    directory: string,
    body: AsyncIterable<Uint8Array>,
  ): Promise<number> {
    await this.held(client, id)
    return safely(() => this.#store.write(relativeDirectory(directory), body))
  }

  /** Starts the lease of a job anew. */
  async renew(client: string, id: string): Promise<void> {
    const [held] = await this.#keys.jobs().renew(client, [id])
    if (held !== true) throw new Problem(403, 'The job being renewed is not in progress with this client')
  }

  /** Takes a job back that the client cannot do now. */
  async giveBack(client: string, id: string): Promise<void> {
    this.#expect(await this.#keys.jobs().release(client, [id]))
  }

  async #record(body: v.InferOutput<typeof Results>) {
    if (body.directory === undefined || typeof body.results !== 'object' || body.results === null) {
      throw new Problem(400, 'The body has no directory, or no results to be stored there')
    }
    const directory = relativeDirectory(body.directory)
    const bytes = await safely(() => this.#store.write(directory, JSON.stringify(body.results)))
    const answer = v.safeParse(DetailAnswer, body.results)
    if (answer.success) {
      // Queued before the job is done, and recognised if it has to be done again: so none is missed, and none comes twice.
      const files = attachmentJobs(itemOf(answer.output, body.results))
      const names = new Map(files.map(({ job, name }) => [job, name]))
      if (files.length > 0) {
        await this.#keys.jobs().add([...names.keys()], { unique: (job) => names.get(job as never)! })
      }
    }
    return { result: { directory, bytes } }
  }

  async #files(job: Job, body: v.InferOutput<typeof Results>) {
    const files = v.safeParse(v.looseObject({ files: v.array(v.string()) }), body.results)
    if (!files.success) throw new Problem(400, 'The results of an attachment are { "files": [paths] }')
    let bytes = 0
    let extractions = 0
    for (const path of files.output.files) {
      bytes += await this.#sizeOf(relativeDirectory(path))
      if (path.includes('_extracted_text/')) extractions += 1
    }
    const directory = job.directory ?? files.output.files[0] ?? ''
    const pdfAttachments = /\.pdf$/i.test(directory) ? 1 : 0
    return { result: { directory, bytes }, add: { pdfAttachments, extractions } }
  }

  async #sizeOf(path: string): Promise<number> {
    try {
      return (await safely(() => stat(safePath(this.#store.root, path)))).size
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new Problem(400, `${path} was never put`)
      throw error
    }
  }

  #expect(finished: readonly { readonly id: string; readonly outcome: string }[]): void {
    for (const { id, outcome } of finished) {
      if (outcome === 'not-held' || outcome === 'already-done') {
        throw new Problem(403, `Job ${id} is no longer in progress with this client`)
      }
    }
  }
}

function errorIn({ results, error }: v.InferOutput<typeof Results>): string | undefined {
  const inside =
    typeof results === 'object' && results !== null && 'error' in results ? results.error : undefined
  const found = error ?? inside
  if (found === undefined || found === null) return undefined
  return typeof found === 'string' ? found : JSON.stringify(found)
}

async function safely<T>(store: () => Promise<T>): Promise<T> {
  try {
    return await store()
  } catch (error) {
    if (error instanceof UnsafePathError) throw new Problem(403, error.message)
    throw error
  }
}
