import { open } from 'keyspec'
import { openClient } from './actor/client.ts'
import { pause } from './clock.ts'
import { DECLARED, schema } from './schema.ts'
import type { Topology } from './topology/topology.ts'

/**
 * Gives the jobs of workers that are gone back to the queue, for as long as leases last and a little more.
 * @param repairs - Whether the queue is repaired first: the leases were deleted, and no worker renews its own any more.
 */
export async function drain(topology: Topology, { repairs }: { readonly repairs: boolean }): Promise<void> {
  const opened = await openClient('node-redis', topology.address)
  try {
    const queue = open(schema, opened.connection).queue()
    if (repairs) await queue.repair()
    const until = performance.now() + 2 * DECLARED.leaseMs
    while (performance.now() < until && (await queue.stats()).inProgress > 0) {
      await queue.recoverExpired()
      await pause(50)
    }
  } finally {
    opened.close()
  }
}
