import type { Connection } from './connection.ts'

const clients = new WeakMap<Connection, object>()

/** Notes which client a connection sends over, and returns the connection. */
export function madeOver<C extends Connection>(client: object, connection: C): C {
  clients.set(connection, client)
  return connection
}

/** The client behind a connection. A connection whose adapter did not note one is known by itself. */
export function clientOf(connection: Connection): object {
  return clients.get(connection) ?? connection
}
