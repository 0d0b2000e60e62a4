import { pause } from '../clock.ts'
import { DECLARED } from '../schema.ts'
import type { Routine } from './world.ts'

/** Adds jobs: with a token and again after a lost answer, or once without one. */
export const producer: Routine = {
  pauseMs: 40,
  async step({ keys, record, random, unique }) {
    const n = unique()
    const job = { n, kind: random.pick(DECLARED.kinds) }
    const options = random.chance(0.5) ? { token: n } : {}
    const call = { recipe: 'queue', verb: 'add', key: 'queue', asked: n }
    const added = await record(call, () => keys.queue().add([job], options))
    if ('failed' in added && added.failed === 'lost' && 'token' in options)
      await record(call, () => keys.queue().add([job], options))
  },
}

/** Takes jobs and completes, fails or releases them; sometimes later than the lease allows. */
export const worker: Routine = {
  pauseMs: 20,
  async step({ keys, record, random, name }) {
    const queue = keys.queue()
    const taken = await record(
      { recipe: 'queue', verb: 'take', key: 'queue' },
      () => queue.take(name, 2),
      (jobs) => jobs.map(({ id }) => id),
    )
    if ('failed' in taken) {
      // The jobs may be ours: they are asked for, and given back.
      const held = await record(
        { recipe: 'queue', verb: 'held', key: 'queue' },
        () => queue.held(name),
        (jobs) => jobs.map(({ id }) => id),
      )
      if ('value' in held && held.value.length > 0)
        await record({ recipe: 'queue', verb: 'release', key: 'queue' }, () =>
          queue.release(
            name,
            held.value.map(({ id }) => id),
          ),
        )
      return
    }
    for (const { id, job } of taken.value) {
      await pause(random.chance(0.02) ? 1700 : random.whole(0, 10))
      const call = { recipe: 'queue', key: 'queue', asked: id }
      const { n, kind } = job
      if (random.chance(0.8))
        await record(
          { ...call, verb: 'complete' },
          () => queue.complete(name, { id, result: { n, kind } }),
          ([finished]) => finished?.outcome,
        )
      else if (random.chance(0.5))
        await record(
          { ...call, verb: 'fail' },
          () => queue.fail(name, [id], new Error('as planned')),
          ([finished]) => finished?.outcome,
        )
      else
        await record(
          { ...call, verb: 'release' },
          () => queue.release(name, [id]),
          ([finished]) => finished?.outcome,
        )
    }
  },
}
