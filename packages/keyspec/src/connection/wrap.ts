import { clientOf, madeOver } from './client-of.ts'
import type { Connection } from './connection.ts'

/** What a wrapper does by itself; without `masters`, those of the inner connection are returned as they are. */
export type OwnVerbs = Pick<Connection, 'send'> & Partial<Pick<Connection, 'masters'>>

/**
 * Returns a connection that sends over another one, with the same facts about the client. Every wrapper is made here, so
 * that a new fact reaches all of them: without it, this function does not compile.
 */
export function wrapConnection(inner: Connection, { send, masters }: OwnVerbs): Connection {
  const wrapped: Required<Connection> = {
    client: inner.client,
    cluster: inner.cluster,
    dear: inner.dear === true,
    send,
    masters: masters ?? (() => inner.masters()),
  }
  return madeOver(clientOf(inner), wrapped)
}
