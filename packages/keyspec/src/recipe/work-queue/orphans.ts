import type { Connection } from '../../connection/connection.ts'
import { prefixed } from '../../kind/key-name.ts'
import type { Disagreement, KeySpec } from '../../kind/kind.ts'
import type { Layout } from './layout.ts'
import * as scripts from './scripts.ts'

/** A layout whose keys can be compared with each other, for the audit: jobs in progress with their leases and holders. */
export function comparable({ parts, counters }: Layout): Layout {
  const specs = [...counters.values()]
  const numbers = async (own: KeySpec, connection: Connection, texts: readonly string[], prefix: string) => {
    const byName = new Map(own.pattern.params.map((name, index) => [name, texts[index]!]))
    const nameOf = ({ pattern }: KeySpec) =>
      prefixed(pattern, prefix).format(pattern.params.map((name) => byName.get(name)!))
    const names = {
      waiting: nameOf(parts.waiting!),
      inProgress: nameOf(parts.inProgress!),
      holders: nameOf(parts.holders!),
      // The number of results plays no part.
      done: nameOf(parts.failed!),
      failed: nameOf(parts.failed!),
      deadlines: nameOf(parts.deadlines!),
      counters: specs.map(nameOf),
    }
    const [waiting, , , , , leaseless, holderless, counted] = await scripts.stats.run(connection, names, {})
    const sum = [...counters.keys()].reduce(
      (all, name, index) => all + (name.startsWith('waiting:') ? Number(counted[index]) : 0),
      0,
    )
    return { leaseless, holderless, surplus: sum - waiting }
  }
  type Numbers = Awaited<ReturnType<typeof numbers>>
  const compare =
    (own: KeySpec, details: (of: Numbers) => readonly Disagreement[]): NonNullable<KeySpec['compare']> =>
    async (connection, texts, prefix) =>
      details(await numbers(own, connection, texts, prefix)).filter(({ amount }) => amount > 0)
  const withCompare = (own: KeySpec, details: (of: Numbers) => readonly Disagreement[]): KeySpec => ({
    ...own,
    compare: compare(own, details),
  })
  return {
    counters,
    parts: {
      ...parts,
      waiting: withCompare(parts.waiting!, ({ surplus }) => [
        { detail: 'the counters of waiting jobs count more than wait', amount: surplus },
      ]),
      inProgress: withCompare(parts.inProgress!, ({ leaseless, holderless }) => [
        { detail: 'jobs in progress have no lease', amount: leaseless },
        { detail: 'jobs in progress have no holder', amount: holderless },
      ]),
      holders: withCompare(parts.holders!, ({ holderless }) => [
        { detail: 'holders have no job in progress', amount: -holderless },
      ]),
      deadlines: withCompare(parts.deadlines!, ({ leaseless }) => [
        { detail: 'leases have no job in progress', amount: -leaseless },
      ]),
    },
  }
}
