import type { Connection } from 'keyspec'
import { milliseconds } from 'keyspec/extend'
import { statesOf } from './archive/key-state.ts'
import { sameValue } from './archive/same-value.ts'
import { findKeys, type Selection } from '../scan/selection.ts'
import { throttle } from '../scan/throttle.ts'
import { type Compared, type Difference, type DiffOptions, judged, settled } from './difference.ts'

/** Compares the keys of `here`, then finds those that are only `there`. */
export async function* serversCompared(
  here: Connection,
  there: Connection,
  selection: Selection,
  options: DiffOptions,
): AsyncGenerator<Compared> {
  const { maxLoad, signal } = options
  const toleranceMs = milliseconds(options.ttlTolerance ?? '5s')
  const rest = throttle(maxLoad, signal)
  const both = (keys: readonly Buffer[]) =>
    rest(() => Promise.all([statesOf(here, keys), statesOf(there, keys)]))
  const settle = (key: Buffer, entry: string | undefined) =>
    settled(key, entry, toleranceMs, async () => {
      const [[a], [b]] = await both([key])
      return { a, b, same: (type: string) => sameValue(type, key, here, there) }
    })

  for await (const found of findKeys(selection, here, { maxLoad, signal })) {
    const keys = found.map(({ key }) => key)
    const [a, b] = await both(keys)
    const differences: Difference[] = []
    for (const [index, key] of keys.entries()) {
      if (judged(a[index], b[index], toleranceMs).length === 0) continue
      const difference = await settle(key, found[index]!.owned?.entry)
      if (difference !== undefined) differences.push(difference)
    }
    yield { keys: keys.length, differences }
  }
  for await (const found of findKeys(selection, there, { maxLoad, signal })) {
    const a = await rest(() =>
      statesOf(
        here,
        found.map(({ key }) => key),
      ),
    )
    const differences: Difference[] = []
    for (const [index, { key, owned }] of found.entries()) {
      if (a[index] !== undefined) continue
      const difference = await settle(key, owned?.entry)
      if (difference?.kind === 'only-there') differences.push(difference)
    }
    yield { keys: differences.length, differences }
  }
}
