import { valueOf } from '../history.ts'
import { byKey, falls, type Model } from './model.ts'

/** A watermark never goes back. */
export const watermarkBack: Model = {
  invariant: 'watermark-back',
  judge: (evidence) =>
    Array.from(byKey(evidence, 'mark'), ([key, ops]) =>
      falls(ops, (op) => valueOf<number | null>(op) ?? undefined).map((pair) => ({
        what: `${key} went back`,
        ops: pair,
      })),
    ).flat(),
}
