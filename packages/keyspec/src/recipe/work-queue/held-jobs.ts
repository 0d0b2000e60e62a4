import { readTaken } from './complete-and-take.ts'
import type { TakenJob } from './outcome.ts'
import { nameOf, type OneQueue, STEP } from './queue-home.ts'
import * as scripts from './scripts.ts'

/** Starts the lease of jobs anew; see `WorkQueue.renew`. */
export async function renewJobs(
  { home, names }: OneQueue<any, any>,
  worker: string | number,
  ids: readonly (string | number)[],
): Promise<boolean[]> {
  const { connection, handover, now, leaseMs } = home
  const name = nameOf(worker)
  const all = ids.map(String)
  handover.named(names, name, all)
  const held: boolean[] = []
  for (let from = 0; from < all.length; from += STEP) {
    const step = all.slice(from, from + STEP)
    const given = { now: now?.(), leaseMs, worker: name, ids: step }
    for (const answer of await scripts.renew.run(connection, names, given)) held.push(answer === 1)
  }
  return held
}

/** Returns the jobs that a worker holds; see `WorkQueue.held`. */
export async function heldJobs<T>(queue: OneQueue<T, any>, worker: string | number): Promise<TakenJob<T>[]> {
  const { connection, now, leaseMs } = queue.home
  const name = nameOf(worker)
  const found = new Map<string, { readonly text: string; readonly until: number }>()
  let cursor = '0'
  do {
    const given = { now: now?.(), leaseMs, worker: name, cursor, size: STEP }
    const [next, ...flat] = await scripts.held.run(connection, queue.names, given)
    // A scan may show a job twice: the first time says since when it is held.
    for (let at = 0; at < flat.length; at += 3) {
      if (!found.has(flat[at]!)) found.set(flat[at]!, { text: flat[at + 1]!, until: Number(flat[at + 2]!) })
    }
    cursor = next!
  } while (cursor !== '0')
  const inOrder = [...found].sort(([a, one], [b, other]) => one.until - other.until || (a < b ? -1 : 1))
  const { jobs } = await readTaken(
    queue,
    name,
    inOrder.flatMap(([id, { text }]) => [id, text]),
  )
  return [...jobs]
}
