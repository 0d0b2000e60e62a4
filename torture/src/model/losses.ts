import type { Op } from '../history.ts'

/** The cause of an excused loss: a fault names it, with the time in which it lasted. */
export type LossCause = keyof typeof LOSSES

/**
 * Every loss that a model excuses, and no other. `writes`: what was acknowledged between `from` and `to` may be gone
 * afterwards. `leases`: what was counted or held at that time by the server's clock may have ended early.
 */
export const LOSSES = {
  /** Replication is asynchronous: the writes since the link to the replica broke, up to its promotion. */
  'crash-failover': { loses: 'writes' },
  /** The server's clock went forward: every lease, window and time to live ended that much earlier. */
  'clock-forward': { loses: 'leases' },
  /** The server's clock went back, and the fence key is gone: the fence begins at the server's time again. */
  'clock-back': { loses: 'fences' },
  /** The tokens of earlier adds are gone: a repeated add counts as new. */
  'evicted-recent': { loses: 'tokens' },
} as const

/** An excused loss of one run. Times are ms of the monotonic clock. */
export interface Loss {
  readonly cause: LossCause
  readonly from: number
  readonly to: number
}

type Losable = (typeof LOSSES)[LossCause]['loses']

/** Returns the losses of one sort. */
export function lossesOf(losses: readonly Loss[], loses: Losable): Loss[] {
  return losses.filter(({ cause }) => LOSSES[cause].loses === loses)
}

/** Returns the operations with those marked as lost whose effect a failover may have undone. */
export function withLosses(ops: readonly Op[], losses: readonly Loss[]): readonly Op[] {
  const spans = lossesOf(losses, 'writes')
  if (spans.length === 0) return ops
  return ops.map((op) =>
    'ok' in op.outcome && spans.some((span) => overlaps(op, span))
      ? { ...op, outcome: { lost: 'FAILOVER' } }
      : op,
  )
}

function overlaps({ start, end }: Op, { from, to }: Loss): boolean {
  return start <= to && end >= from
}
