import type { Record } from '../actor/record.ts'
import type { Crew } from '../crew.ts'
import type { Loss } from '../model/losses.ts'
import type { Random } from '../random.ts'
import type { Topology } from '../topology/topology.ts'

/** The things that a fault can reach. */
export interface Scene {
  readonly topology: Topology
  readonly crew: Crew
  readonly random: Random
  /** Whether the server's clock has gone back in this run. */
  clockWentBack: boolean
  /** Whether the leases of the queue were deleted in this run. */
  deadlinesWent: boolean
  /** The folder of the histories. */
  readonly folder: string
  /** Writes into the history of the harness itself. */
  readonly record: Record
  readonly plants: readonly string[]
  /** Declares a loss that the models excuse. */
  lose(loss: Loss): void
}

/** One way to break something. It undoes itself: when `inflict` settles, everything runs again. */
export interface Fault {
  readonly name: string
  /** The shortest run in which it is drawn; defaults to any. */
  readonly needsMs?: number
  /** Whether a topology can suffer it; defaults to yes. */
  possible?(topology: Topology): boolean
  inflict(scene: Scene): Promise<void>
}
