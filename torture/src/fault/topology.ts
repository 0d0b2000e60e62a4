import type { Fault } from './fault.ts'

/** A replica takes over from its primary without a loss (CLUSTER FAILOVER). */
export const handOver: Fault = {
  name: 'hand-over',
  possible: (topology) => topology.handOver !== undefined,
  inflict: ({ topology, random }) => topology.handOver!(random),
}

/** Slots move from one primary to another while they are used. */
export const moveSlots: Fault = {
  name: 'move-slots',
  possible: (topology) => topology.moveSlots !== undefined,
  inflict: ({ topology, random }) => topology.moveSlots!(random),
}
