import type { Keyspace } from 'keyspec'
import type { Random } from '../random.ts'
import type { schema } from '../schema.ts'
import type { ClientName } from './order.ts'
import type { Record } from './record.ts'

/** The keyspace of an actor. */
export type Keys = Keyspace<typeof schema>

/** The things that a routine works with. */
export interface World {
  readonly name: string
  readonly client: ClientName
  readonly keys: Keys
  readonly record: Record
  readonly random: Random
  /** Returns a text that no other call of the run has returned. */
  unique(): string
}

/** A loop of an actor: one step after another, with a pause between them. */
export interface Routine {
  readonly pauseMs: number
  step(world: World): Promise<void>
}
