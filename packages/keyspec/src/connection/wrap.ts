import { clientOf, madeOver } from './client-of.ts'
import type { Connection } from './connection.ts'

/** The verbs that a wrapper has of its own; without `masters`, the wrapper returns the masters of the inner connection. */
export type OwnVerbs = Pick<Connection, 'send'> & Partial<Connection>

/**
 * Returns a connection that sends over another one, and keeps every other property of it, also those that this version of
 * Keyspec does not know. Every wrapper is made here: a new property of `Connection` that is not listed does not compile.
 */
export function wrapConnection<V extends OwnVerbs>(inner: Connection, own: V): Connection & V {
  // A spread leaves out what an adapter that is a class inherits.
  const known: Required<Connection> = {
    client: inner.client,
    cluster: inner.cluster,
    dear: inner.dear === true,
    send: own.send,
    masters: () => inner.masters(),
  }
  return madeOver(clientOf(inner), { ...inner, ...known, ...own })
}
