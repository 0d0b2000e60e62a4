import type { EraseShare } from '@keyspec/inspect'

/** Adds up portions as they come. */
export interface EraseSums {
  /** Of those that go. */
  readonly keys: number
  readonly bytes: number
  add(shares: readonly EraseShare[]): void
  /** One for each entry. */
  rows(): readonly EraseShare[]
}

const SAMPLES = 5

/** Nothing yet. */
export function eraseSums(): EraseSums {
  const sums = new Map<string, EraseShare>()
  let keys = 0
  let bytes = 0
  return {
    get keys() {
      return keys
    },
    get bytes() {
      return bytes
    },
    add(shares) {
      for (const portion of shares) {
        if (!portion.spared) {
          keys += portion.keys
          bytes += portion.bytes
        }
        const id = `${portion.entry} ${portion.program}`
        const sum = sums.get(id)
        sums.set(id, {
          ...portion,
          keys: (sum?.keys ?? 0) + portion.keys,
          bytes: (sum?.bytes ?? 0) + portion.bytes,
          samples: [...(sum?.samples ?? []), ...portion.samples].slice(0, SAMPLES),
        })
      }
    },
    rows: () => [...sums.values()].toSorted((a, b) => (a.entry ?? '~').localeCompare(b.entry ?? '~')),
  }
}
