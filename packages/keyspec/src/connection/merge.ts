import type { Command, Connection, Reply } from './connection.ts'

/** What became of one of several merged calls: its own answer or its own error. */
export type Outcome = { readonly reply: Reply } | { readonly error: unknown }

/** What becomes of a call that is sent by itself after all. */
export async function outcomeOf(replying: Promise<Reply>): Promise<Outcome> {
  try {
    return { reply: await replying }
  } catch (error) {
    return { error }
  }
}

/** How calls of one tick become one command. Calls of one merge must commute unless they share a key. */
export interface Merge {
  /** Calls with the same group can go out together; groups of one run go out side by side. */
  group(call: Command, cluster: boolean): string | number
  /** The calls only read, one key each, which is their first argument. */
  readonly reads?: boolean
  /** Calls of different groups may share a key too, so only neighbours of one group go out together. */
  readonly neighbours?: boolean
  /** How many calls one command may carry: a longer run goes out in chunks, so that none holds the server. */
  readonly most: number
  /** Sends two calls or more of one group as one; answers for each, in order. */
  send(connection: Connection, calls: readonly Command[]): Promise<readonly Outcome[]>
  /** Sends one call that found no neighbour. */
  sendOne(connection: Connection, call: Command): Promise<Reply>
}
