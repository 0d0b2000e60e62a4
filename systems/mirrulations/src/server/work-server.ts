import {
  type Call,
  type HttpService,
  httpService,
  jsonIn,
  Problem,
  type Route,
} from '@keyspec-systems/program/http'
import { isUnavailable } from 'keyspec'
import * as v from 'valibot'
import type { Mirrulations } from '../keyspace.ts'
import type { Store } from '../storage/store.ts'
import { dataPage } from './data-page.ts'
import { statistics } from './statistics.ts'
import { Results, Work } from './work.ts'

/** What the work server works with. */
export interface WorkServerOptions {
  readonly keys: Mirrulations
  readonly store: Store
  /** How long a job may be held without being renewed, which clients are told. */
  readonly leaseMs: number
  /** Where the records come from, for the page. */
  readonly source: string
  /** The largest record, in bytes; 64 MiB unless told. */
  readonly maxBodyBytes?: number
}

/** The work server, not yet listening: gives jobs to clients, and stores what they bring. */
export function workServer(options: WorkServerOptions): HttpService {
  const { keys, store, leaseMs, source, maxBodyBytes = 67_108_864 } = options
  const work = new Work(keys, store)

  const forClient =
    (answer: (client: string, call: Call) => Promise<unknown>): Route =>
    async (call) => ({ body: await answer(await work.client(call.query.get('client_id')), call) })

  const routes: Readonly<Record<string, Route>> = {
    'GET /get_client_id': async () => ({ body: { client_id: await work.newClient() } }),
    'GET /get_job': forClient(async (client, { query }) => ({
      job: await work.next(client, query.get('again') === '1'),
      lease_ms: leaseMs,
    })),
    'PUT /put_results': forClient(async (client, call) => {
      const results = parsed(jsonIn(await call.bytes(maxBodyBytes)))
      const outcome = await work.finish(client, results)
      return {
        success: outcome === 'done' ? 'The job was successfully completed' : 'The job was noted as invalid',
      }
    }),
    'PUT /put_file': forClient(async (client, { query, body }) => ({
      bytes: await work.file(client, needed(query, 'job_id'), needed(query, 'directory'), body(maxBodyBytes)),
    })),
    'PUT /renew_job': forClient(async (client, { query }) => {
      await work.renew(client, needed(query, 'job_id'))
      return { success: 'The lease of the job has begun anew' }
    }),
    'PUT /return_job': forClient(async (client, { query }) => {
      await work.giveBack(client, needed(query, 'job_id'))
      return { success: 'The job waits again' }
    }),
    'GET /data': async ({ header }) => {
      const body = await statistics(keys)
      return prefersHtml(header('accept'))
        ? { html: dataPage(body, source), headers: { Vary: 'Accept' } }
        : { body }
    },
  }
  return httpService({
    routes,
    // The clients of the first generation ask for these with GET.
    changing: ['GET /get_client_id', 'GET /get_job'],
    ready: async () => keys.jobs().stats(),
    problemOf: (cause) =>
      new Problem(500, isUnavailable(cause) ? 'Cannot connect to the database' : 'The work server failed', {
        cause,
      }),
    // As the originals say it.
    refused: ({ status, message }) => ({ status, body: { error: message } }),
  })
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
