import type { Trial } from './trial.ts'

const load: { readonly [name: string]: () => Promise<Trial> } = {
  stampede: async () => (await import('./trials/stampede.ts')).stampede,
  limits: async () => (await import('./trials/limits.ts')).limits,
}

/** The names of all trials, in the order of the report. */
export const trialNames = Object.keys(load)

/** A trial by its name. */
export function trialNamed(name: string): Promise<Trial> {
  return load[name]!()
}
