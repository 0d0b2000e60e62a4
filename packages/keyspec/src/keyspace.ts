import type { Connection, Subscriber } from './connection/connection.ts'
import { clientOf } from './connection/client-of.ts'
import type { Invalidations } from './connection/tracking/invalidations.ts'
import { Watch } from './connection/tracking/invalidations-watch.ts'
import { punctual } from './connection/client/punctual.ts'
import { lineOf } from './connection/replication.ts'
import { tick } from './connection/pipeline/tick.ts'
import { SchemaError } from './errors.ts'
import type { Kind } from './kind/kind.ts'
import { listeningToAll, renaming } from './kind/renaming.ts'
import { type LayoutManifest, validateLayouts } from './layout.ts'
import { isMounted, type Mount, type Schema, validate } from './schema.ts'

/** The typed access to every entry of a schema. */
export type Keyspace<S extends Schema> = {
  readonly [E in keyof S]: S[E] extends Kind<infer Handle>
    ? Handle
    : S[E] extends Mount<infer Inner>
      ? Keyspace<Inner>
      : never
}

/** What can be said at `open`. */
export interface OpenOptions {
  /** Stands before every key: `'prod:'`. */
  readonly prefix?: string
  /**
   * Lets recipes that wait be woken, instead of asking again. While its connection gives no answer within 5 s they ask in
   * pauses, as without it.
   */
  readonly subscriber?: Subscriber
  /** Tells which keys change, so that caches declared `near` can answer from this process's memory; not on a cluster. */
  readonly invalidations?: Invalidations
  /**
   * A second connection to the same server, of another client, for entries that declare `replicated`: their writes go over
   * it one at a time, each followed by WAIT. Nothing else should use that client.
   */
  readonly replicating?: Connection
  /**
   * The manifest of a version that may be running meanwhile, as the one in production: `open` throws a `SchemaError` if a recipe
   * keeps its data in a layout that is no neighbour of that version's. This needs no I/O.
   */
  readonly beside?: LayoutManifest
  /** The instant, in ms since the epoch, that scripts take for the server's clock. For tests: the server's clock is the clock. */
  readonly now?: () => number
}

/**
 * Opens a schema over a connection. Before any I/O it proves that no key can belong to two entries, and on a cluster that
 * every verb over several keys stays in one slot; if not, a `SchemaError` names both entries and a key they share.
 *
 * @example
 * const keys = open(schema, fromNodeRedis(client), { prefix: 'prod:' })
 * await keys.session({ userId: 42 }).get()
 */
export function open<const S extends Schema>(
  schema: S,
  connection: Connection,
  options: OpenOptions = {},
): Keyspace<S> {
  const { prefix = '', subscriber, invalidations, replicating, beside, now } = options
  validate(schema, { prefix, cluster: connection.cluster })
  if (beside !== undefined) validateLayouts(schema, beside)
  if (replicating !== undefined && clientOf(replicating) === clientOf(connection))
    throw new SchemaError(
      '`replicating` is over the same client as the connection, and WAIT would hold up all that is sent: ' +
        'give it a client of its own',
    )
  const watch = invalidations === undefined ? undefined : new Watch(invalidations, connection)
  const together = tick(connection)
  const bounded = subscriber === undefined ? undefined : punctual(subscriber)
  // Its writes go one at a time, but only a tick knows which text a script that merges calls has to send.
  const apart =
    replicating === undefined ? undefined : { connection: tick(replicating), line: lineOf(replicating) }

  const openAll = (schema: Schema, prefix: string, path: string): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(schema).map(([entry, member]) => {
        const name = path === '' ? entry : `${path}.${entry}`
        if (isMounted(member)) return [entry, openAll(member.schema, prefix + member.prefix, name)]
        const renamed = renaming(together, member.keys, prefix)
        const listener = listeningToAll(bounded, member.keys, prefix)
        const opening = { name, connection: renamed, prefix, subscriber: listener, watch, now }
        if (apart === undefined) return [entry, member.open(opening)]
        const over = { ...apart, connection: renaming(apart.connection, member.keys, prefix) }
        return [entry, member.open({ ...opening, replicating: over })]
      }),
    )
  const keyspace = openAll(schema, prefix, '')
  watch?.start()
  return keyspace as Keyspace<S>
}
