import {
  type Call,
  type HttpService,
  httpService,
  jsonIn,
  Problem,
  type Route,
} from '@keyspec-systems/program/http'
import { type Connection, isUnavailable } from 'keyspec'
import * as v from 'valibot'
import type { Job } from '../job.ts'
import type { Mirrulations } from '../keyspace.ts'
import type { Store } from '../storage/store.ts'
import { atMost, within } from './at-most.ts'
import { Callers, type Holder } from './caller.ts'
import { Capabilities } from './capability.ts'
import { dataPage } from './data-page.ts'
import { statistics, underBothNames } from './statistics.ts'
import { Results, Work } from './work.ts'

/** What the work server works with. */
export interface WorkServerOptions {
  readonly keys: Mirrulations
  readonly connection: Connection
  readonly store: Store
  /** How long a job may be held without being renewed, which clients are told. */
  readonly leaseMs: number
  /** Where the records come from, for the page. */
  readonly source: string
  /** Whether clients are let in that know no tokens, as the originals' do; then a number is all that a client is known by. */
  readonly legacyClients?: boolean
  /** The largest record, in bytes; 16 MiB unless told. */
  readonly maxResultsBytes?: number
  /** The largest file, in bytes; 256 MiB unless told, as many as a client downloads. */
  readonly maxFileBytes?: number
}

/** The work server, not yet listening: gives jobs to clients, and stores what they bring. */
export function workServer(options: WorkServerOptions): HttpService {
  const { keys, connection, store, leaseMs, source, legacyClients = false } = options
  const { maxResultsBytes = 16_777_216, maxFileBytes = 268_435_456 } = options
  const work = new Work(keys, store)
  const callers = new Callers({ keys, connection }, legacyClients)
  const reading = atMost(RECORDS_AT_ONCE)

  const newClient: Route = async () => {
    const client = await work.newClient()
    const capabilities = await Capabilities.read(keys)
    return { body: { client_id: client, token: capabilities.ofClient(String(client)) } }
  }

  const given = async (call: Call) => {
    const { client, capabilities } = await callers.client(call)
    const job = await work.next(client, call.query.get('again') === '1')
    return { job, lease_ms: leaseMs, token: capabilities.ofLease(client, String(job.job_id)) }
  }

  /** Takes a record. `known`: who may bring it, before anything of it is read; without it the body says for which job it is. */
  const finish = async (call: Call, known?: Holder) =>
    reading(async () => {
      const results = parsed(jsonIn(await within(RECORD_MS, call.bytes(maxResultsBytes))))
      const id = String(results.job_id)
      if (known !== undefined && known.id !== id) throw new Problem(400, 'The body names another job')
      const outcome = await work.finish(known ?? (await callers.holder(call, id)), results)
      const success =
        outcome === 'done' ? 'The job was successfully completed' : 'The job was noted as invalid'
      return { body: { success } }
    })

  const ofJob =
    (answer: (call: Call, holder: Holder) => Promise<{ readonly body: object }>): Route =>
    async (call) =>
      answer(call, await callers.holder(call, needed(call.query, 'job_id')))

  const routes: Readonly<Record<string, Route>> = {
    'GET /v1/get_client_id': newClient,
    'GET /v1/get_job': async (call) => ({ body: await given(call) }),
    'PUT /v1/put_results': ofJob(finish),
    'PUT /v1/put_file': ofJob(async (call, holder) => {
      const directory = needed(call.query, 'directory')
      return { body: { bytes: await work.file(holder, directory, call.body(maxFileBytes)) } }
    }),
    'PUT /v1/renew_job': async (call) => {
      const id = needed(call.query, 'job_id')
      await work.renew(await callers.ofJob(call, id), id)
      return { body: { success: 'The lease of the job has begun anew' } }
    },
    'PUT /v1/return_job': async (call) => {
      const id = needed(call.query, 'job_id')
      await work.giveBack(await callers.ofJob(call, id), id)
      return { body: { success: 'The job waits again' } }
    },
    // As the originals have them.
    'GET /get_client_id': newClient,
    'GET /get_job': async (call) => {
      const { job, ...beside } = await given(call)
      return { body: { ...forBothGenerations(job), ...beside } }
    },
    'PUT /put_results': async (call) => {
      if (call.query.has('job_id')) return ofJob(finish)(call)
      await callers.anyHolder(call)
      return finish(call)
    },
    'GET /data': async ({ header }) => {
      const body = underBothNames(await statistics(keys))
      return prefersHtml(header('accept'))
        ? { html: dataPage(body, source), headers: { Vary: 'Accept' } }
        : { body }
    },
  }
  return httpService({
    routes,
    arrivalMs: FILE_MS,
    // The clients of the first generation ask for these with GET.
    changing: ['/v1', ''].flatMap((version) => [`GET ${version}/get_client_id`, `GET ${version}/get_job`]),
    ready: async () => keys.jobs().stats(),
    problemOf: (cause) =>
      new Problem(500, isUnavailable(cause) ? 'Cannot connect to the database' : 'The work server failed', {
        cause,
      }),
    // As the originals say it.
    refused: ({ status, message }) => ({ status, body: { error: message } }),
  })
}

/** How many records are in memory at once. */
const RECORDS_AT_ONCE = 8

/** How long a record may take to arrive, so that a slow one does not keep the place of others. */
const RECORD_MS = 30_000

/** How long a file may: as long as its client may take to download it. */
const FILE_MS = 300_000

/** A job as the originals' clients read it: those of the first generation its URL under its id, the later ones its fields. */
function forBothGenerations({ job_id, url, job_type, reg_id, agency, ...more }: Job) {
  const id = String(job_id)
  const type = job_type ?? 'other'
  return {
    ...more,
    job: { [id]: url, job_type: type },
    job_id: id,
    url,
    job_type: type,
    reg_id: reg_id ?? null,
    agency: agency ?? null,
  }
}

function needed(query: URLSearchParams, name: string): string {
  const value = query.get(name)
  if (value === null || value === '') throw new Problem(400, `${name} was not provided`)
  return value
}

function parsed(json: unknown): v.InferOutput<typeof Results> {
  // Clients of the first generation sent their JSON as a text inside JSON.
  if (typeof json === 'string') return parsed(jsonIn(Buffer.from(json)))
  const results = v.safeParse(Results, json)
  if (results.success) return results.output
  const [issue] = results.issues
  throw new Problem(
    400,
    `The body is not a result: ${v.getDotPath(issue) ?? 'the body'} is not as it should be`,
  )
}

function prefersHtml(accept = ''): boolean {
  const weight = (type: RegExp) => {
    for (const part of accept.split(',')) {
      if (type.test(part.trim())) return Number(/;\s*q=([\d.]+)/.exec(part)?.[1] ?? 1)
    }
    return 0
  }
  return weight(/^text\/html\b/) > weight(/^application\/json\b/)
}
