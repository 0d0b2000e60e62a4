import type { Argument, Command, Connection, Reply } from '../connection/connection.ts'
import type { Merge, Outcome } from '../connection/merge.ts'
import type { Split } from './script.ts'

interface Sending {
  /** The call that stands for so many. */
  readonly counted: (call: Command, count: number) => Command
  /** One call as it stands; who asked sees to it that a script which the server has lost is sent again. */
  readonly sendOne: (connection: Connection, call: Command) => Promise<Reply>
  /** One that stands for several, whose askers know nothing of it. */
  readonly sendMany: (connection: Connection, call: Command) => Promise<Reply>
}

/**
 * Calls of one script on one key, as few as there are runs of equal ones: each run goes out as one call that says how many
 * it stands for, in the order they were asked, and its answer is split among them.
 */
export function mergeEqual(split: Split, { counted, sendOne, sendMany }: Sending): Merge {
  return {
    // What a run costs the server does not grow with it, only what it admits.
    most: 1_000,
    group: (call) => call[3] as string,
    sendOne,
    async send(connection, calls) {
      const runs = runsOf(calls)
      const outcomes = await Promise.all(
        runs.map(async ({ call, count }): Promise<readonly Outcome[]> => {
          try {
            if (count === 1) return [{ reply: await sendMany(connection, call) }]
            return split(await sendMany(connection, counted(call, count)), count).map((reply) => ({ reply }))
          } catch (error) {
            return Array.from({ length: count }, () => ({ error }))
          }
        }),
      )
      return outcomes.flat()
    },
  }
}

function runsOf(calls: readonly Command[]): { readonly call: Command; count: number }[] {
  const runs: { readonly call: Command; count: number }[] = []
  for (const call of calls) {
    const last = runs.at(-1)
    if (last !== undefined && isEqual(last.call, call)) last.count += 1
    else runs.push({ call, count: 1 })
  }
  return runs
}

function isEqual(one: Command, other: Command): boolean {
  return one.length === other.length && one.every((argument: Argument, index) => argument === other[index])
}
