import { type Call, Problem } from '@keyspec-systems/program/http'
import { identified, type Job } from '../job.ts'
import type { Mirrulations, Opened } from '../keyspace.ts'
import { adoptJobs } from './adopt.ts'
import { Capabilities, isToken } from './capability.ts'

/** A client, and what it may be given. */
export interface Client {
  readonly client: string
  readonly capabilities: Capabilities
}

/** A client that holds a job. */
export interface Holder {
  readonly client: string
  readonly id: string
  readonly job: Job
}

/** Tells who asks the work server, before anything of a body is read. Rejects with a `Problem`. */
export class Callers {
  readonly #opened: Pick<Opened, 'keys' | 'connection'>
  readonly #keys: Mirrulations
  readonly #mayHaveNone: boolean

  /** @param mayHaveNone Whether clients of the originals are let in, which know no tokens. */
  constructor(opened: Pick<Opened, 'keys' | 'connection'>, mayHaveNone: boolean) {
    this.#opened = opened
    this.#keys = opened.keys
    this.#mayHaveNone = mayHaveNone
  }

  /** The client that asks; else 401. */
  async client(call: Call): Promise<Client> {
    const known = await this.#known(call)
    this.#prove(call, known.capabilities.ofClient(known.client))
    return known
  }

  /** The client that asks and may speak of this job, whether it still holds it or not; else 401 or 403. */
  async ofJob(call: Call, id: string): Promise<string> {
    const { client, capabilities } = await this.#known(call)
    this.#prove(call, capabilities.ofLease(client, id), 403)
    return client
  }

  /** The client that asks and holds this job; else 401 or 403. */
  async holder(call: Call, id: string): Promise<Holder> {
    const client = await this.ofJob(call, id)
    const running = await this.#keys.jobs().running(id)
    if (running === undefined) throw new Problem(403, NOT_IN_PROGRESS)
    if (running.worker !== client)
      throw new Problem(403, 'The client ID was incorrect: another client has the job')
    const { job, wasBare } = identified(id, running.job)
    // Its lease begins now, and what comes of it is the job's.
    if (wasBare) await adoptJobs(this.#opened)
    return { client, id, job }
  }

  /** The client that asks, where it may speak of a job that only its body names: one of an original that holds any; else 401 or 403. */
  async anyHolder(call: Call): Promise<void> {
    if (!this.#mayHaveNone || bearer(call) !== undefined) throw new Problem(400, 'job_id was not provided')
    const { client } = await this.#known(call)
    if ((await this.#keys.jobs().held(client)).length === 0) throw new Problem(403, NOT_IN_PROGRESS)
  }

  async #known(call: Call): Promise<Client> {
    const client = call.query.get('client_id')
    if (client === null || client === '') throw unknown('Client ID was not provided')
    const [last = 0, capabilities] = await Promise.all([
      this.#keys.clients().current(),
      Capabilities.read(this.#keys),
    ])
    if (!/^[1-9]\d*$/.test(client) || Number(client) > last) throw unknown('Invalid client ID')
    return { client, capabilities }
  }

  #prove(call: Call, token: string, otherwise: 401 | 403 = 401): void {
    const given = bearer(call)
    if (given === undefined && this.#mayHaveNone) return
    if (given === undefined) throw unknown('The token was not provided')
    if (isToken(given, token)) return
    throw otherwise === 401
      ? unknown('The token is not that of this client')
      : new Problem(403, 'The token is not that of this client and job')
  }
}

const NOT_IN_PROGRESS = 'The job being completed was not in progress'

/** What stands in `Authorization: Bearer …` (RFC 6750). */
function bearer(call: Call): string | undefined {
  const header = call.header('authorization')
  return header === undefined ? undefined : (/^bearer (\S+)$/i.exec(header)?.[1] ?? '')
}

function unknown(detail: string): Problem {
  return new Problem(401, detail, { headers: { 'WWW-Authenticate': 'Bearer' } })
}
