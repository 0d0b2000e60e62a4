import type { Argument, Command, Connection, Reply } from '../connection/connection.ts'
import type { Merge, Outcome } from '../connection/merge.ts'
import type { Split } from './script.ts'

/**
 * Calls of one script on one key, as few as there are runs of equal ones: each run goes out as one call that says how many
 * it stands for, in the order they were asked, and its answer is split among them.
 */
export function mergeEqual(
  split: Split,
  timesAt: number,
  send: (connection: Connection, call: Command) => Promise<Reply>,
): Merge {
  return {
    // What a run costs the server does not grow with it, only what it admits.
    most: 1_000,
    group: (call) => call[3] as string,
    sendOne: send,
    async send(connection, calls) {
      const runs = runsOf(calls)
      const outcomes = await Promise.all(
        runs.map(async ({ call, count }): Promise<readonly Outcome[]> => {
          try {
            const counted = call.with(timesAt, String(count))
            return split(await send(connection, counted), count).map((reply) => ({ reply }))
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
