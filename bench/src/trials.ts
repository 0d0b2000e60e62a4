import type { Trial } from './trial.ts'

const load: { readonly [name: string]: () => Promise<Trial> } = {
  stampede: async () => (await import('./trials/stampede.ts')).stampede,
  limits: async () => (await import('./trials/limits.ts')).limits,
  bytes: async () => (await import('./trials/bytes.ts')).bytes,
  archive: async () => (await import('./trials/archive.ts')).archive,
  audit: async () => (await import('./trials/audit.ts')).audit,
  coherence: async () => (await import('./trials/coherence.ts')).coherence,
  'start-up': async () => (await import('./trials/start-up.ts')).startUp,
  imports: async () => (await import('./trials/imports.ts')).imports,
  'growth-schema': async () => (await import('./trials/growth-schema.ts')).growthOfSchema,
  'growth-in-flight': async () => (await import('./trials/growth-in-flight.ts')).growthInFlight,
  'growth-workers': async () => (await import('./trials/growth-workers.ts')).growthOfWorkers,
  'growth-keys': async () => (await import('./trials/growth-keys.ts')).growthOfKeys,
}

/** The names of all trials, in the order of the report. */
export const trialNames = Object.keys(load)

/** A trial by its name. */
export function trialNamed(name: string): Promise<Trial> {
  return load[name]!()
}
