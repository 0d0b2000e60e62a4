/** Some keys of one entry, or of none. */
export interface EraseShare {
  /** `undefined`: no entry owns them. */
  readonly entry: string | undefined
  /** The program that they belong to, where it is another. */
  readonly program: string | undefined
  /** Whether they are declared to live forever. */
  readonly forever: boolean
  /** Whether they stay, since they are another program's. */
  readonly spared: boolean
  /** How many were found, or were deleted. */
  readonly keys: number
  /** What MEMORY USAGE says of those found; 0 of those deleted, which nobody asked. */
  readonly bytes: number
  readonly samples: readonly Buffer[]
}

const SAMPLES = 5

/** What was found to be erased, or was erased. */
export interface EraseResult {
  /** Without those that are spared. */
  readonly keys: number
  /** What MEMORY USAGE says of them, in a preview; else 0. */
  readonly bytes: number
  /** One for each entry and program, by name. */
  readonly shares: readonly EraseShare[]
}

/** Adds up what was found or done, batch by batch. */
export class EraseSums {
  readonly #sums = new Map<string, EraseShare>()
  #keys = 0
  #bytes = 0

  /** Returns what it comes to so far. */
  result(): EraseResult {
    const shares = [...this.#sums.values()].toSorted((a, b) => (a.entry ?? '~').localeCompare(b.entry ?? '~'))
    return { keys: this.#keys, bytes: this.#bytes, shares }
  }

  /** How many keys there were, those that are spared too. */
  get all(): number {
    let all = 0
    for (const { keys } of this.#sums.values()) all += keys
    return all
  }

  add(shares: readonly EraseShare[]): void {
    for (const portion of shares) {
      if (!portion.spared) {
        this.#keys += portion.keys
        this.#bytes += portion.bytes
      }
      const id = `${portion.entry} ${portion.program}`
      const sum = this.#sums.get(id)
      this.#sums.set(id, {
        ...portion,
        keys: (sum?.keys ?? 0) + portion.keys,
        bytes: (sum?.bytes ?? 0) + portion.bytes,
        samples: [...(sum?.samples ?? []), ...portion.samples].slice(0, SAMPLES),
      })
    }
  }
}
