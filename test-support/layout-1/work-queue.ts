import type { Connection } from '../../packages/keyspec/src/connection/connection.ts'
import { evaluate, luaOf } from './script.ts'

const job = luaOf('work-queue/job.lua')
const lua = Object.fromEntries(
  ['add', 'turn', 'recover', 'renew'].map((verb) => [verb, `${job}\n${luaOf(`work-queue/${verb}.lua`)}`]),
)

const LEASE_MS = 1000
const KINDS = ['a', 'b'] as const

/** A job of the queue, without its id. */
export interface NewJob {
  readonly kind: (typeof KINDS)[number]
  readonly n: number
}

/**
 * A program of layout 1 at the work queue `q`, as it was declared then with the field `id`, a lease of 1 s, 2 attempts, all
 * results kept, and counters by `kind`.
 */
export class QueueOfLayout1 {
  readonly #connection: Connection
  readonly #prefix: string
  readonly #now: () => number

  constructor(connection: Connection, prefix: string, now: () => number) {
    this.#connection = connection
    this.#prefix = prefix
    this.#now = now
  }

  async add(
    jobs: readonly NewJob[],
    { token = '', unique }: { readonly token?: string; readonly unique?: (job: NewJob) => string } = {},
  ): Promise<{ readonly added: number; readonly ids: readonly string[] }> {
    const items = jobs.flatMap((each) => [unique?.(each) ?? '', `,${JSON.stringify(each).slice(1)}`])
    const args = { numbered: true, head: '{"id":', remember: 10_000, token, items }
    const [added, ...ids] = (await this.#run('add', args)) as [number, ...string[]]
    return { added, ids: jobs.length === ids.length ? ids : jobs.map((_, at) => String(Number(ids[0]) + at)) }
  }

  async take(worker: string, count: number): Promise<readonly { readonly id: string }[]> {
    const [, taken] = await this.#turn(worker, count, [])
    if (taken.length > 0 || (await this.recoverExpired()) === 0) return idsIn(taken)
    return idsIn((await this.#turn(worker, count, []))[1])
  }

  async finish(
    worker: string,
    outcome: 'completed' | 'failed' | 'released',
    ids: readonly string[],
  ): Promise<readonly string[]> {
    const items = ids.flatMap((id) => [outcome, id, outcome === 'completed' ? 'ok' : 'no', ''])
    return (await this.#turn(worker, 0, items))[0]
  }

  async renew(worker: string, ids: readonly string[]): Promise<void> {
    await this.#run('renew', { leaseMs: LEASE_MS, worker, ids })
  }

  async recoverExpired(): Promise<number> {
    const args = { keepErrors: true, allowed: 2, most: 500 }
    return ((await this.#run('recover', args)) as [string[], string[], number])[2]
  }

  #turn(worker: string, take: number, items: readonly string[]) {
    const args = { leaseMs: LEASE_MS, keepDone: 10_000, keepErrors: true, worker, take, items }
    return this.#run('turn', args) as Promise<[outcomes: string[], taken: string[]]>
  }

  #run(verb: string, args: Parameters<typeof evaluate>[3]) {
    const key = (name: string) => `${this.#prefix}q:${name}`
    const tallied = ['waiting', 'done', 'failed'].flatMap((state) => KINDS.map((kind) => [state, kind]))
    const keys = {
      waiting: key('waiting'),
      inProgress: key('in-progress'),
      holders: key('holders'),
      deadlines: key('deadlines'),
      attempts: key('attempts'),
      done: key('done'),
      finished: key('finished'),
      failed: key('failed'),
      errors: key('errors'),
      recent: key('recent'),
      sequence: key('last-id'),
      tallies: tallied.map(([state, kind]) => key(`${state}-${kind}`)),
    }
    const shared = {
      field: 'id',
      by: 'kind',
      failedField: '',
      tallied: tallied.map(([state, kind]) => `${state}:${kind}`).join(' '),
      now: this.#now(),
    }
    return evaluate(this.#connection, lua[verb]!, keys, { ...shared, ...args })
  }
}

function idsIn(taken: readonly string[]): { readonly id: string }[] {
  return taken.flatMap((id, at) => (at % 2 === 0 ? [{ id }] : []))
}
