/** A hash of counts, and of marks that say what was counted. */
export interface Tally {
  readonly name: string
  getFields(...fields: readonly string[]): Promise<{ readonly [field: string]: string | number | undefined }>
  updateIf(expected: Fields, values: Fields): Promise<unknown>
}

interface Fields {
  readonly [field: string]: string | number | undefined
}

/**
 * Moves a mark from where it stands to `to`, and the counts with it, in one step: each mark is counted once, however often
 * and by however many it is told, so no count can drift or fall below 0. Answers whether it moved; `undefined` from `change`
 * leaves all as it is. Nothing is counted where the mark is not there: then the batch is unknown, or its time is over.
 */
export async function moved(
  tally: Tally,
  mark: string,
  to: string,
  change: (from: string) => Readonly<Record<string, number>> | undefined,
): Promise<boolean> {
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const { [mark]: from } = await tally.getFields(mark)
    const by = typeof from !== 'string' || from === to ? undefined : change(from)
    if (by === undefined) return false
    const before = await tally.getFields(...Object.keys(by))
    const after = Object.fromEntries(
      Object.entries(by).map(([count, step]) => [count, Number(before[count] ?? 0) + step]),
    )
    // Counts are there from the beginning of a batch, so what is expected is all that is changed.
    if ((await tally.updateIf({ ...before, [mark]: from }, { ...after, [mark]: to })) !== undefined)
      return true
    await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(50, attempt)))
  }
  throw new Error(`${tally.name}: others never stopped counting; "${mark}" was not moved to ${to}`)
}

const MOST_ATTEMPTS = 500
