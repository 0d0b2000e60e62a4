import { clockStep } from './clock-step.ts'
import { evict } from './evict.ts'
import type { Fault } from './fault.ts'
import { killClient } from './kill-client.ts'
import { killImport, killMigration } from './kill-move.ts'
import { killPrimary } from './kill-primary.ts'
import { killWorker } from './kill-worker.ts'
import { cut, halfOpen, killConnections, loseReply, loseRequest, slow } from './network.ts'
import { busy, clientPause, flap, outOfMemory, readOnly, scriptFlush } from './server.ts'
import { stallLoop } from './stall-loop.ts'
import { stopProcess } from './stop-process.ts'
import { silence, stopServer } from './stop-server.ts'
import { handOver, moveSlots } from './topology.ts'

/** Every fault. */
export const faults: readonly Fault[] = [
  killClient,
  killWorker,
  killPrimary,
  killMigration,
  killImport,
  stopProcess,
  stopServer,
  silence,
  stallLoop,
  cut,
  slow,
  halfOpen,
  loseRequest,
  loseReply,
  killConnections,
  clientPause,
  scriptFlush,
  outOfMemory,
  readOnly,
  flap,
  busy,
  clockStep,
  evict,
  handOver,
  moveSlots,
]
