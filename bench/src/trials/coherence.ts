import { nearCaches } from '../jobs/cache-near-peers.ts'
import type { Trial, Trier } from '../trial.ts'
import { type CoherenceOptions, FIRST, type Moments } from './coherence-member.ts'

const WRITES = 10
const CASE = 'written by another process'
/** How long a reader waits for a new value. */
const PATIENCE_MS = 500

/** How soon a copy in one process is given up when another process writes. */
export const coherence: Trial = {
  name: 'coherence',
  about:
    `One process has a copy, another writes through the same library: after the write was answered, the first reads the ` +
    `new value so long after (asking each millisecond, the slowest of ${WRITES} writes), or not within ${PATIENCE_MS} ms.`,
  figures: {
    seen: { label: 'writes that were seen', unit: `of ${WRITES}` },
    slowestMs: { label: 'the slowest was seen after', unit: 'ms' },
  },
  cases: [CASE],
  rounds: 3,
  contenders: Object.fromEntries(
    Object.entries(nearCaches).map(([name, { label }]) => [name, { label, run: coherenceOf(name) }]),
  ),
  targets: [
    { case: CASE, figure: 'seen', ours: 'keyspec', atLeast: WRITES, always: true },
    { case: CASE, figure: 'slowestMs', ours: 'keyspec', atMost: 20 },
  ],
}

function coherenceOf(contender: string): Trier['run'] {
  return async (_, { server, crowd }) => {
    const { address } = await server()
    const members = (['read', 'write'] as const).map((role) => ({
      module: ['./coherence-member.js', import.meta.url] as const,
      given: { contender, server: address, role, patienceMs: PATIENCE_MS },
    }))
    const pair = await crowd<CoherenceOptions, Moments>(members)
    await pair.go(FIRST)
    let seen = 0
    let slowestMs = 0
    for (let write = 1; write <= WRITES; write += 1) {
      const [read, written] = (await pair.go(String(write))) as [Moments, Moments]
      if (read.at === undefined) slowestMs = PATIENCE_MS
      else {
        seen += 1
        slowestMs = Math.max(slowestMs, read.at - written.at!)
      }
    }
    return { seen, slowestMs }
  }
}
