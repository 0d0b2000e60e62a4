import type { Acts, Address, Case, Job } from '../job.ts'
import { page } from '../peers/caches.ts'
import { NEAR_KEYS, nearCaches, type NearCache } from './cache-near-peers.ts'

const cases: Case[] = [1, 50].map((inFlight) => ({
  name: `100 near hits, one after another, ${inFlight} in flight`,
  act: 'hits',
  inFlight,
  items: 100,
}))

/** A value that a process has a copy of; how soon the copy is given up is another trial: coherence. */
export const cacheNear: Job = {
  name: 'cache-near',
  about: `A small JSON value that the process has a copy of; ${NEAR_KEYS} keys. Rates are of hits.`,
  cases,
  contenders: Object.fromEntries(
    Object.entries(nearCaches).map(([name, { label, open }]) => [
      name,
      { label, open: async (server: Address) => hits(await open(server)) },
    ]),
  ),
  targets: cases.flatMap(({ name }) => [
    { case: name, ours: 'keyspec', against: ['bentocache'], atLeast: 10 },
    { case: name, ours: 'keyspec', against: ['node-redis'], atLeast: 4 },
  ]),
}

async function hits({ get, set, close }: NearCache): Promise<Acts> {
  const ids = Array.from({ length: NEAR_KEYS }, (_, id) => String(id))
  for (const id of ids) await set(id, page)
  // Our own writes are told of too; what is read behind that stays.
  await new Promise((resolve) => setTimeout(resolve, 200))
  for (const id of ids) await get(id)
  let turn = 0
  return {
    acts: {
      async hits() {
        for (let count = 0; count < 100; count += 1) {
          if ((await get(ids[turn++ % NEAR_KEYS]!)) === undefined)
            throw new Error('it should have been a hit')
        }
      },
    },
    close,
  }
}
