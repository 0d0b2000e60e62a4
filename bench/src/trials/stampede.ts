import { caches } from '../peers/caches.ts'
import type { Trial, Trier } from '../trial.ts'
import type { Asked, AskerOptions } from './stampede-member.ts'

const PROCESSES = 8
const ASKERS = 50
const LOAD_MS = 200
const CASE = `${PROCESSES} processes, ${ASKERS} askers each`

/** Everybody asks for the same missing value at the same instant. */
export const stampede: Trial = {
  name: 'stampede',
  about:
    `${PROCESSES} processes with ${ASKERS} askers each ask for one missing value at one instant; to load it takes ` +
    `${LOAD_MS} ms. The last is served so long after the first load began.`,
  figures: { loads: { label: 'loads' }, lastMs: { label: 'the last is served after', unit: 'ms' } },
  cases: [CASE],
  contenders: Object.fromEntries(
    Object.entries(caches).map(([name, { label }]) => [name, { label, run: stampedeOf(name) }]),
  ),
  targets: [
    { case: CASE, figure: 'loads', ours: 'keyspec', atLeast: 1, atMost: 1, always: true },
    { case: CASE, figure: 'lastMs', ours: 'keyspec', atMost: 240 },
  ],
}

function stampedeOf(contender: string): Trier['run'] {
  return async (_, { server, crowd }) => {
    const given: AskerOptions = {
      contender,
      server: (await server()).address,
      askers: ASKERS,
      loadMs: LOAD_MS,
    }
    const asking = await crowd<AskerOptions, Asked>(
      Array.from({ length: PROCESSES }, () => ({
        module: ['./stampede-member.js', import.meta.url] as const,
        given,
      })),
    )
    // Once for what is compiled and connected at the first call, then for the figures.
    await asking.go('warm')
    const asked = await asking.go('counted')
    const loadedAt = asked.flatMap((each) => each.loadedAt)
    return {
      loads: loadedAt.length,
      lastMs: Math.max(...asked.map((each) => each.lastServedAt)) - Math.min(...loadedAt),
    }
  }
}
