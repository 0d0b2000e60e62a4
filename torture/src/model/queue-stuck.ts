import { type Model } from './model.ts'

/** No job stays in progress after its worker is gone, its lease is over, and others ask for jobs. */
export const queueStuck: Model = {
  invariant: 'queue-stuck',
  judge: ({ ops, final }) =>
    Object.entries(final?.queue.inProgress ?? {}).map(([id, { n }]) => ({
      what: `job ${n} stays in progress for ever`,
      ops: ops.filter(({ recipe, asked }) => recipe === 'queue' && (asked === n || asked === id)),
    })),
}
