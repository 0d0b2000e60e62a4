import { cache } from './cache.ts'
import { limiter } from './limiter.ts'
import { lock } from './lock.ts'
import { mark } from './mark.ts'
import { near } from './near.ts'
import { once } from './once.ts'
import type { Order } from './order.ts'
import { producer, worker } from './queue.ts'
import { quota } from './quota.ts'
import { sequence } from './sequence.ts'
import { swap } from './swap.ts'
import { update } from './update.ts'
import type { Routine } from './world.ts'

/** The routines of each role, all of which run side by side. */
export const routines: Readonly<Record<Order['role'], readonly Routine[]>> = {
  all: [
    limiter,
    limiter,
    quota,
    lock,
    producer,
    worker,
    cache,
    cache,
    near,
    swap,
    mark,
    sequence,
    update,
    once,
    once,
  ],
  worker: [worker],
}
