import type { Outcome, Reply } from '../connection.ts'

/** What becomes of a call that is sent by itself after all. */
export async function outcomeOf(replying: Promise<Reply>): Promise<Outcome> {
  try {
    return { reply: await replying }
  } catch (error) {
    return { error }
  }
}
