import { Replication } from '../connection/replication.ts'
import { type Duration, milliseconds } from '../duration.ts'
import { SchemaError } from '../errors.ts'
import type { Opening } from '../kind/kind.ts'

/**
 * How many replicas acknowledge a write before its result is returned, and how long the write waits for them. The result
 * says how many did. An acknowledged write can still be lost: a failover may choose a replica that lacks it, and a replica
 * may lose it when its process or machine dies.
 */
export interface ReplicatedOptions {
  readonly to: number
  readonly within: Duration
}

/** The commands that ask replicas for an acknowledgement. */
export function acknowledging(declared: ReplicatedOptions | undefined): readonly string[] {
  return declared === undefined ? [] : ['CLIENT INFO', 'WAIT']
}

/** The connection on which an entry's writes are acknowledged, as declared; a `SchemaError` where none can be. */
export function replicationOf(
  { name, connection, replicating }: Opening,
  declared: ReplicatedOptions | undefined,
): Replication | undefined {
  if (declared === undefined) return undefined
  const { to, within } = declared
  if (!Number.isSafeInteger(to) || to < 1)
    throw new SchemaError(`${name}: replicated.to must be a whole number from 1, not ${to}`)
  if (connection.cluster)
    throw new SchemaError(
      `${name}: \`replicated\` does not work on a cluster, because WAIT names no key to be routed by: remove it`,
    )
  if (replicating === undefined)
    throw new SchemaError(
      `${name}: \`replicated\` needs a connection of its own, since WAIT holds up all that is sent behind it: ` +
        'open(schema, connection, { replicating: … })',
    )
  return new Replication(replicating, { to, withinMs: milliseconds(within) })
}
