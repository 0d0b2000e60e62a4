import type { TemporaryRedis } from 'keyspec/testing'
import type { Proxy } from '../../../test-support/proxy.ts'
import type { Address, ClientName } from '../actor/order.ts'
import type { Ask } from '../final.ts'
import type { Loss } from '../model/losses.ts'
import type { Random } from '../random.ts'

/** Real servers, and what can be done to them. */
export interface Topology {
  readonly name: string
  /** The clients that know this topology. */
  readonly clients: readonly ClientName[]
  /** The address of the servers, past every proxy. */
  readonly address: Address
  /** Makes the way by which one actor reaches the servers. */
  connect(): Promise<Way>
  /** The servers, but for Sentinels. */
  readonly servers: readonly TemporaryRedis[]
  /** Returns a primary; of several, one that the random numbers choose. */
  primary(random: Random): Promise<TemporaryRedis>
  /** Sends a command past every proxy to the primary of its key. */
  readonly ask: Ask
  /** Kills a primary with SIGKILL, and comes back when the topology is whole again. */
  crash(random: Random): Promise<Loss | undefined>
  /** Hands a primary's part to its replica without a loss; undefined if there is no replica. */
  readonly handOver?: (random: Random) => Promise<void>
  /** Moves some slots to another primary. */
  readonly moveSlots?: (random: Random) => Promise<void>
  /** The losses of failovers that no fault asked for, as a busy machine may cause them. */
  readonly unasked?: readonly Loss[]
  /** Steps the clock of the server to this many ms beside the true time. */
  readonly stepClock?: (ms: number) => void
  stop(): Promise<void>
}

/** The way of one actor. Its proxy is undefined where clients learn the addresses from the servers. */
export interface Way {
  readonly address: Address
  readonly proxy: Proxy | undefined
}

/** The surroundings that a topology is started in. */
export interface Place {
  /** A folder for its files, which goes with the run. */
  readonly folder: string
  /** Is told what this machine lacks. */
  readonly say: (line: string) => void
}

/** A topology, or the reason why this machine cannot have it. */
export type Started = Topology | { readonly skipped: string }
