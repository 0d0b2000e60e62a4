import type { Connection } from '../connection/connection.ts'
import { pace, type Pace } from './pace.ts'
import { type Peeked, peeker } from './peek.ts'
import type { ValueOptions } from './source.ts'
import { keysAtOnce, type SeenKey } from './walk.ts'

/** Reads values from a server, as few commands at a time as they fit in, and rests between them. */
export function valuesOf(connection: Connection) {
  // One for all, so that short rests add up.
  let rest: Pace | undefined
  return async function* (
    keys: readonly SeenKey[],
    { maxLoad, signal, limitBytes }: ValueOptions,
  ): AsyncGenerator<readonly Peeked[]> {
    rest ??= pace(maxLoad, signal)
    // A value costs about twice what the facts of a key cost.
    const atOnce = keysAtOnce(maxLoad) / 2
    const peek = peeker({ limitBytes })
    for (let at = 0; at < keys.length;) {
      const names = keys.slice(at, at + atOnce).map(({ name }) => name!)
      const peeked = await rest(() => peek.some(connection, names))
      yield peeked
      at += peeked.length
    }
  }
}
