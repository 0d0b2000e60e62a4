import type { Connection, Subscriber } from './connection/connection.ts'
import type { Invalidations } from './connection/invalidations.ts'
import { Watch } from './connection/invalidations-watch.ts'
import { tick } from './connection/tick.ts'
import type { Kind } from './kind/kind.ts'
import { movingFrom } from './kind/was.ts'
import { isMounted, type Mounted, prove, type Schema } from './schema.ts'

/** The typed access to every entry of a schema. */
export type Keyspace<S extends Schema> = {
  readonly [E in keyof S]: S[E] extends Kind<infer Handle>
    ? Handle
    : S[E] extends Mounted<infer Inner>
      ? Keyspace<Inner>
      : never
}

/** What can be said at `open`. */
export interface OpenOptions {
  /** Stands before every key: `'prod:'`. */
  readonly prefix?: string
  /** Lets recipes that wait be woken, instead of asking again. */
  readonly subscriber?: Subscriber
  /** Tells which keys change, so that caches declared `near` can answer from this process's memory; not on a cluster. */
  readonly invalidations?: Invalidations
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
  const { prefix = '', subscriber, invalidations, now } = options
  prove(schema, { prefix, cluster: connection.cluster })
  const watch = invalidations === undefined ? undefined : new Watch(invalidations, connection)
  const together = tick(connection)

  const openAll = (schema: Schema, prefix: string, path: string): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(schema).map(([entry, member]) => {
        const name = path === '' ? entry : `${path}.${entry}`
        if (isMounted(member)) return [entry, openAll(member.schema, prefix + member.prefix, name)]
        const moving = movingFrom(together, member.keys, prefix)
        return [entry, member.open({ name, connection: moving, prefix, subscriber, watch, now })]
      }),
    )
  const keyspace = openAll(schema, prefix, '')
  watch?.start()
  return keyspace as Keyspace<S>
}
