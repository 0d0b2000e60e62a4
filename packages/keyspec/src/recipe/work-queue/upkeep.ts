import { turnStep } from './complete-and-take.ts'
import type { RecoverResult, RepairResult } from './outcome.ts'
import { type OneQueue, STEP } from './queue-home.ts'
import * as scripts from './scripts.ts'

const RECOVER_STEP = 500
/** A `repair` counts no longer lists than this anew, as that holds the server. */
const RECOUNT_MOST = 10_000

/** Takes all jobs whose lease has run out from their holders; see `WorkQueue.recoverExpired`. */
export async function recoverExpired(queue: OneQueue<any, any>): Promise<RecoverResult> {
  await queue.home.handover.confirm()
  const returned: string[] = []
  const failed: string[] = []
  for (;;) {
    const step = { worker: '', items: [], take: 0, most: RECOVER_STEP }
    const [, , back, lost, expired] = await turnStep(queue, step)
    returned.push(...back)
    failed.push(...lost)
    if (expired < RECOVER_STEP) return { returned, failed }
  }
}

/** Repairs a queue that lost a key; see `WorkQueue.repair`. */
export async function repair(queue: OneQueue<any, any>): Promise<RepairResult> {
  const { home, names } = queue
  const { connection, now, leaseMs, tallied } = home
  const changed = { jobs: 0, leases: 0, holders: 0, attempts: 0 }
  for (const part of ['jobs', 'leases', 'holders', 'attempts'] as const) {
    let cursor = '0'
    do {
      const given = { now: now?.(), leaseMs, part, cursor, size: STEP }
      const [next, count] = await scripts.repair.run(connection, names, given)
      changed[part] += count
      cursor = next
    } while (cursor !== '0')
  }
  const counts = tallied.some((name) => name.startsWith('waiting:'))
  const wrong = counts ? await recount(queue, RECOUNT_MOST) : 0
  return {
    leased: changed.jobs,
    dropped: changed.leases + changed.holders + changed.attempts,
    recounted: wrong < 0 ? undefined : wrong,
  }
}

/** Sets the counters of waiting jobs right if at most `most` wait; answers how many were wrong, or −1 if more wait. */
export function recount(
  { home, names }: OneQueue<any, any>,
  most = Number.MAX_SAFE_INTEGER,
): Promise<number> {
  return scripts.recount.run(home.connection, names, { ...home.job, most })
}
