import { type Model } from './model.ts'

/** A verb settles within the bound, and rejects instead of throwing. */
export const settles: Model = {
  invariant: 'settles',
  judge: ({ ops }) => [
    ...ops
      .filter(({ outcome }) => 'lost' in outcome && outcome.lost === 'HUNG')
      .map((op) => ({ what: `${op.recipe}.${op.verb} did not settle`, ops: [op] })),
    ...ops
      .filter(({ threw }) => threw)
      .map((op) => ({ what: `${op.recipe}.${op.verb} threw instead of rejecting`, ops: [op] })),
  ],
}
