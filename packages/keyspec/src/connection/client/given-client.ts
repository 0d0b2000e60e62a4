import { SchemaError } from '../../errors.ts'

/** What an adapter asks of a client, by what the client can do. */
export interface Wanted {
  /** In words, behind "Keyspec needs": `a client of ioredis 5 or 6`. */
  readonly is: string
  /** The methods that the adapter calls. */
  readonly has: readonly string[]
  /** The methods by which clients that belong to another adapter, or to none, are known, and what such a client is. */
  readonly unless?: Readonly<Record<string, string>>
}

/**
 * Refuses a client that an adapter was not written for, before anything is sent. Some of these have the methods of the
 * right one, and answer for a part of the keys only: a cluster's client sends a SCAN to any one of its nodes.
 * @throws SchemaError if it is another client, a promise of one, or none
 */
export function requireClient(client: unknown, { is, has, unless = {} }: Wanted): void {
  const can = (name: string) =>
    typeof (client as Readonly<Record<string, unknown>> | null | undefined)?.[name] === 'function'
  if (can('then')) throw new SchemaError(`this is a promise of a client: await it, as Keyspec needs ${is}`)
  for (const [name, other] of Object.entries(unless))
    if (can(name)) throw new SchemaError(`this client is ${other}`)
  for (const name of has)
    if (!can(name)) throw new SchemaError(`this client has no ${name}: Keyspec needs ${is}`)
}
