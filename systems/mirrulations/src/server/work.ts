import { stat } from 'node:fs/promises'
import { Problem } from '@keyspec-systems/program/http'
import * as v from 'valibot'
import { attachmentJobs, identified, type Job } from '../job.ts'
import type { Mirrulations } from '../keyspace.ts'
import { relativeDirectory, safePath, UnsafePathError } from '../storage/safe-path.ts'
import type { Store } from '../storage/store.ts'
import type { Holder } from './caller.ts'
import { placeOfFile, placeOfRecord } from './place.ts'

/** What a client sends when it has done a job. */
export const Results = v.looseObject({
  job_id: v.union([v.pipe(v.number(), v.integer()), v.pipe(v.string(), v.regex(/^\S+$/))]),
  /** Where the record belongs in the eyes of the client; it stands where its job says. Clients of the originals send -1 with an error. */
  directory: v.optional(v.unknown()),
  /** The record, or what it could not be had for; for an attachment `{ "files": […] }`, which were put before. */
  results: v.optional(v.unknown()),
  /** What it could not be had for: `error`, or `errors` as in JSON:API, here or in `results`. */
  error: v.optional(v.unknown()),
  errors: v.optional(v.unknown()),
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

  /** The next job for a client; with `again` the one that it was given before and may not have heard of. */
  async next(client: string, again: boolean): Promise<Job> {
    const held = again ? await this.#keys.jobs().held(client) : []
    const [taken] = held.length > 0 ? held : await this.#take(client)
    if (taken === undefined) throw new Problem(403, 'There are no jobs available')
    return identified(taken.id, taken.job).job
  }

  /** Stores what a client has fetched, queues the files that belong to it, and counts the job as done, once. */
  async finish(
    { client, id, job }: Holder,
    body: v.InferOutput<typeof Results>,
  ): Promise<'done' | 'invalid'> {
    const error = errorIn(body)
    if (error !== undefined) {
      this.#expect(await this.#keys.jobs().fail(client, [id], error))
      console.error(`job ${id} is invalid: ${error} (${job.url})`)
      return 'invalid'
    }
    const done = job.job_type === 'attachments' ? await this.#files(job, body) : await this.#record(job, body)
    this.#expect(await this.#keys.jobs().complete(client, { id, ...done }))
    return 'done'
  }

  /** Stores one file of a job at one of its places. */
  async file({ job }: Holder, directory: string, body: AsyncIterable<Uint8Array>): Promise<number> {
    return safely(() => this.#store.write(placeOfFile(job, directory), body))
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

  async #take(client: string) {
    const { taken, unreadable } = await this.#keys.jobs().completeAndTake(client, { take: 1 })
    for (const { id, error } of unreadable) console.error(`job ${id} is invalid: ${error.message}`)
    return taken
  }

  async #record(job: Job, { directory, results }: v.InferOutput<typeof Results>) {
    const named = typeof directory === 'string' ? directory : undefined
    if (typeof results !== 'object' || results === null)
      throw new Problem(400, 'The body has no results to be stored')
    if (named !== undefined) await safely(async () => safePath(this.#store.root, relativeDirectory(named)))
    const { path, item } = placeOfRecord(job, results, named)
    const bytes = await safely(() => this.#store.write(path, JSON.stringify(results)))
    if (item !== undefined) {
      // Queued before the job is done, and recognised if it has to be done again: so none is missed, and none comes twice.
      const files = attachmentJobs(item)
      const names = new Map(files.map(({ job: file, name }) => [file, name]))
      if (files.length > 0) {
        await this.#keys.jobs().add([...names.keys()], { unique: (file) => names.get(file as never)! })
      }
    }
    return { result: { directory: path, bytes } }
  }

  async #files(job: Job, body: v.InferOutput<typeof Results>) {
    const files = v.safeParse(v.looseObject({ files: v.array(v.string()) }), body.results)
    if (!files.success) throw new Problem(400, 'The results of an attachment are { "files": [paths] }')
    const paths = new Set(files.output.files.map((named) => placeOfFile(job, named)))
    let bytes = 0
    let extractions = 0
    for (const path of paths) {
      bytes += await this.#sizeOf(path)
      if (path !== job.directory) extractions += 1
    }
    const directory = job.directory ?? ''
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

function errorIn(body: v.InferOutput<typeof Results>): string | undefined {
  const within: object = typeof body.results === 'object' && body.results !== null ? body.results : {}
  const said = [body, within].flatMap((each) => Object.entries(each))
  const found = said.find(
    ([name, value]) => (name === 'error' || name === 'errors') && value !== undefined && value !== null,
  )?.[1] as unknown
  if (found === undefined) return undefined
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
