import type { Job } from './job.ts'

const load: { readonly [name: string]: () => Promise<Job> } = {
  'get-set': async () => (await import('./jobs/get-set.ts')).getSet,
  limiter: async () => (await import('./jobs/limiter.ts')).limiter,
  queue: async () => (await import('./jobs/queue.ts')).queue,
  vectors: async () => (await import('./jobs/vectors.ts')).vectors,
  cache: async () => (await import('./jobs/cache.ts')).cache,
  'cache-near': async () => (await import('./jobs/cache-near.ts')).cacheNear,
}

/** The names of all jobs, in the order of the report. */
export const jobNames = Object.keys(load)

/** A job by its name. */
export function jobNamed(name: string): Promise<Job> {
  const found = load[name]
  if (found === undefined) throw new Error(`there is no job "${name}": there are ${jobNames.join(', ')}`)
  return found()
}
