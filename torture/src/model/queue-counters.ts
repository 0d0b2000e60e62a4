import { DECLARED } from '../schema.ts'
import { type Model, type Violation } from './model.ts'

/** The counters of a queue equal the sets that they count, and its side keys hold the jobs in progress, no others. */
export const queueCounters: Model = {
  invariant: 'queue-counters',
  judge: ({ final }) => {
    if (final === undefined) return []
    const { waiting, inProgress, done, failed, counters, holders, deadlines } = final.queue
    const found: Violation[] = []
    const counted = { waiting, done: Object.values(done), failed: Object.values(failed) }
    for (const [state, jobs] of Object.entries(counted)) {
      for (const kind of DECLARED.kinds) {
        const there = jobs.filter((job) => job.kind === kind).length
        const said = counters[`${state}:${kind}`] ?? 0
        if (there !== said)
          found.push({ what: `the counter ${state}:${kind} is ${said}, and ${there} are there`, ops: [] })
      }
    }
    const running = new Set(Object.keys(inProgress))
    for (const [name, ids] of Object.entries({ holders, deadlines })) {
      const strangers = ids.filter((id) => !running.has(id))
      if (strangers.length > 0)
        found.push({ what: `${name} names ${strangers.length} jobs that are not in progress`, ops: [] })
    }
    return found
  },
}
