import { DECLARED } from './schema.ts'

/** A job as it stands in Redis. */
export interface StoredJob {
  readonly n: string
  readonly kind: string
}

/** The raw state of the queue. */
export interface QueueState {
  readonly waiting: readonly StoredJob[]
  readonly inProgress: Readonly<Record<string, StoredJob>>
  readonly done: Readonly<Record<string, StoredJob>>
  readonly failed: Readonly<Record<string, StoredJob>>
  readonly holders: readonly string[]
  readonly deadlines: readonly string[]
  /** By `state:kind`. */
  readonly counters: Readonly<Record<string, number>>
}

/** The raw state of Redis after a run. */
export interface Final {
  readonly queue: QueueState
  /** The numbers that were counted, by key. */
  readonly numbers: Readonly<Record<string, number>>
  readonly items: readonly string[]
  /** The entries of the stream. */
  readonly events: readonly string[]
  /** The counts of each quota, beside those of its mirror, by window. */
  readonly quotas: Readonly<Record<string, { readonly count: number; readonly mirror: number }>>
}

/** Sends a command to the server that owns its key. */
export type Ask = (command: string, key: string, ...words: (string | number)[]) => Promise<unknown>

/** The keys that a final state is read from, beside those that are always there. */
export interface Counted {
  /** Keys of numbers; a name that begins with `tally:` is a hash. */
  readonly numbers: Iterable<string>
  /** Windows of the quota, as its keys end: `{a}:2024-09-17_14`. */
  readonly windows: Iterable<string>
}

/** Reads the raw state. */
export async function readFinal(ask: Ask, { numbers, windows }: Counted): Promise<Final> {
  const strings = async (...words: [string, string, ...(string | number)[]]) =>
    ((await ask(...words)) as unknown[]).map(String)
  const jobs = async (key: string) => {
    const flat = await strings('HGETALL', key)
    const found: Record<string, StoredJob> = {}
    for (let at = 0; at < flat.length; at += 2) found[flat[at]!] = JSON.parse(flat[at + 1]!) as StoredJob
    return found
  }
  const counters: Record<string, number> = {}
  for (const state of ['waiting', 'done', 'failed'])
    for (const kind of DECLARED.kinds)
      counters[`${state}:${kind}`] = Number((await ask('GET', `{queue}:n:${state}:${kind}`)) ?? 0)
  const counted: Record<string, number> = {}
  for (const key of numbers)
    counted[key] = Number(
      (key.startsWith('tally:') ? await ask('HGET', key, 'count') : await ask('GET', key)) ?? 0,
    )
  const quotas: Record<string, { count: number; mirror: number }> = {}
  for (const window of windows)
    quotas[window] = {
      count: Number((await ask('GET', `quota:${window}`)) ?? 0),
      mirror: Number((await ask('GET', `quota-mirror:${window}`)) ?? 0),
    }
  return {
    queue: {
      waiting: (await strings('LRANGE', '{queue}:waiting', 0, -1)).map(
        (text) => JSON.parse(text) as StoredJob,
      ),
      inProgress: await jobs('{queue}:in-progress'),
      done: await jobs('{queue}:done'),
      failed: await jobs('{queue}:failed'),
      holders: await strings('HKEYS', '{queue}:holders'),
      deadlines: await strings('ZRANGE', '{queue}:deadlines', 0, -1),
      counters,
    },
    numbers: counted,
    items: await strings('LRANGE', 'items', 0, -1),
    events: ((await ask('XRANGE', 'events', '-', '+')) as [string, string[]][]).map(
      ([, fields]) => fields[1]!,
    ),
    quotas,
  }
}
