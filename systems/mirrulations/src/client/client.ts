import { backoff, delayOf, pause } from '@keyspec-systems/program'
import { extractedPath, jsonPath } from '../storage/layout.ts'
import type { Regulations } from '../upstream/regulations.ts'
import { UpstreamError } from '@keyspec-systems/program/upstream'
import { UnreadableError } from '@keyspec-systems/reading'
import type { Reader } from './reading/reader.ts'
import { type Given, Refused, type Registered, Unreachable, type WorkApi } from './work-api.ts'

/** What a client works with. */
export interface ClientOptions {
  readonly api: WorkApi
  readonly regulations: Regulations
  /** Reads the files that were downloaded, in a process of its own. */
  readonly reader: Reader
  /** The longest pause before asking again where no job waits. */
  readonly idleMs: number
  readonly log?: (line: string) => void
}

/** A text larger than this is not extracted. */
const MOST_TEXT = 16_777_216

/** Takes jobs, fetches what they name and brings the results, one job after another, until the signal ends it. */
export async function runClient(options: ClientOptions, stop: AbortSignal): Promise<void> {
  const { api, log = () => {} } = options
  const pauses = backoff(2_000)
  const upstream = backoff(60_000)
  const idle = backoff(options.idleMs)
  let client: Registered | undefined
  let again = false
  while (!stop.aborted) {
    try {
      client ??= await api.register(stop)
      // Not cut off by the signal: the job that comes with the answer has to be given back.
      const given = await api.next(client, again, AbortSignal.timeout(10_000))
      again = false
      pauses.reset()
      if (given === undefined) {
        await pause(idle.next(), stop)
        continue
      }
      idle.reset()
      await work(options, given, stop)
      upstream.reset()
    } catch (error) {
      if (stop.aborted) return
      // The server no longer knows us: it was given another database.
      if (error instanceof Refused && error.status === 401) client = undefined
      // A job may have been given to us in an answer that was lost.
      again = error instanceof Unreachable
      log((error as Error).message)
      await pause(waitOf(error) ?? (error instanceof UpstreamError ? upstream : pauses).next(), stop)
    }
  }
}

async function work(options: ClientOptions, given: Given, stop: AbortSignal): Promise<void> {
  const { api } = options
  const lost = new AbortController()
  const signal = AbortSignal.any([stop, lost.signal])
  const renewing = setInterval(
    () => {
      api.renew(given, signal).catch((error: unknown) => {
        if (error instanceof Refused) lost.abort(error)
      })
    },
    delayOf(given.leaseMs / 3),
  )
  try {
    const body = await fetched(options, given, signal)
    await patient(() => api.results(given, body, signal), signal)
  } catch (error) {
    if (error instanceof Refused && error.status !== 401) return await settle(options, given, error)
    // Where the fault is the service's the next client may be luckier. Where it may be the job's own, the lease is left
    // to run out: it comes back later, and not for ever.
    if (!(error instanceof UpstreamError) || generalReasons.has(error.reason)) {
      await api.giveBack(given).catch(() => {}) // else its lease runs out
    }
    throw error
  } finally {
    clearInterval(renewing)
  }
}

const generalReasons = new Set(['limited', 'credentials', 'unreachable'])

/** The work server refused: the job is another client's, or done by an answer of ours that was lost; else it cannot be done. */
async function settle({ api, log = () => {} }: ClientOptions, given: Given, error: Refused) {
  const signal = AbortSignal.timeout(5_000)
  const id = String(given.job.job_id)
  const isOurs = await api.renew(given, signal).then(
    () => true,
    () => false,
  )
  if (isOurs) await api.results(given, { results: { error: error.message } }, signal)
  log(isOurs ? `job ${id} cannot be done: ${error.message}` : `job ${id} is no longer ours`)
}

/** What to send for a job: its record, the files that were put, or the error that it will always end with. */
async function fetched(options: ClientOptions, given: Given, signal: AbortSignal): Promise<object> {
  const { job } = given
  try {
    if (job.job_type === 'attachments') return await download(options, given, signal)
    const item = await options.regulations.fetchItem(job.url, signal)
    return { directory: jsonPath(item), results: item.json }
  } catch (error) {
    if (error instanceof UpstreamError && error.isFinal) return { results: { error: error.message } }
    throw error
  }
}

async function download(options: ClientOptions, given: Given, signal: AbortSignal) {
  const { api, regulations } = options
  const { url, directory } = given.job
  if (directory === undefined)
    return { results: { error: 'the job does not say where its file is to be stored' } }
  const textPath = extractedPath(directory)
  const chunks: Uint8Array[] = []
  await regulations.download(
    url,
    async (body) => {
      const failed: unknown[] = []
      chunks.length = 0
      try {
        await api.file(given, directory, kept(body, chunks, failed), signal)
      } catch (error) {
        // What breaks off upstream breaks off here too, but upstream is where it can be mended.
        throw failed[0] ?? error
      }
    },
    signal,
  )
  const text = textPath === undefined ? undefined : await textOf(options, directory, chunks, signal)
  if (textPath === undefined || text === undefined) return { results: { files: [directory] } }
  await patient(() => api.file(given, textPath, text, signal), signal)
  return { results: { files: [directory, textPath] } }
}

/** The text of a file, where it has one: a file that cannot be read is still a file that was stored. */
async function textOf(
  { reader, log = () => {} }: ClientOptions,
  name: string,
  chunks: readonly Uint8Array[],
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return await reader.read('text', [name, Buffer.concat(chunks)], { signal })
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    log(`${name} is stored without its text: ${error.message}`)
    return undefined
  }
}

/** Passes a body on, keeps it as long as it is small, and notes the error that it ends with. */
async function* kept(
  body: AsyncIterable<Uint8Array>,
  chunks: Uint8Array[],
  failed: unknown[],
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength
      if (bytes <= MOST_TEXT) chunks.push(chunk)
      else chunks.length = 0
      yield chunk
    }
  } catch (error) {
    failed.push(error)
    throw error
  }
}

/** Asks the work server again while it cannot be reached: what was fetched would have to be fetched anew. */
async function patient(ask: () => Promise<void>, signal: AbortSignal): Promise<void> {
  const pauses = backoff(1_000)
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof Unreachable) || attempt === 12) throw error
      await pause(pauses.next(), signal)
    }
  }
}

function waitOf(error: unknown): number | undefined {
  if (!(error instanceof UpstreamError)) return undefined
  return error.retryAfterMs ?? (error.reason === 'limited' ? 30_000 : undefined)
}
