import type { Courtlistener } from '../schema.ts'
import type { Failure } from './failure.ts'

/** What a retry did. */
export interface Retried {
  readonly recovered: readonly string[]
  readonly failedAgain: readonly string[]
}

/** The failed dockets of each hour. */
export interface Failures {
  /** Puts a docket on the hour's list, once, with the error of its last failure beside it. */
  record(hour: Date, docketId: string, error: string): Promise<void>
  /** The failures of an hour, the newest first, with their reasons where they are known. */
  list(hour: Date): Promise<Failure[]>
  /** Takes dockets off the hour's list; answers how many entries went. */
  resolve(hour: Date, docketIds: Iterable<string>): Promise<number>
  /**
   * Tries each failure of an hour once in a pass, whatever the number of workers: each is claimed before it is tried.
   * A docket leaves the list when it has succeeded, so that nothing is lost where a worker dies.
   */
  retry(hour: Date, pass: string, attempt: (docketId: string) => Promise<void>): Promise<Retried>
}

/** The failed dockets in this keyspace. */
export function failuresIn(keys: Courtlistener, now: () => Date = () => new Date()): Failures {
  const note = async (hour: Date, docketId: string, error: string) =>
    keys.failedReasons({ hour }).set({ [docketId]: { error, timestamp: now().toISOString() } })

  const list = async (hour: Date) => {
    const [failures, reasons] = await Promise.all([
      keys.failed({ hour }).range(),
      keys.failedReasons({ hour }).get(),
    ])
    return failures.map((each) => ({ ...each, ...reasons?.[each.docketId] }))
  }

  const resolve = async (hour: Date, docketIds: Iterable<string>) => {
    const ids = new Set(docketIds)
    const gone = (await keys.failed({ hour }).range()).filter(({ docketId }) => ids.has(docketId))
    const elements = new Map(gone.map((each) => [each.stored, each]))
    const counts = await Promise.all([...elements.values()].map((each) => keys.failed({ hour }).remove(each)))
    if (ids.size > 0) await keys.failedReasons({ hour }).remove(...ids)
    return counts.reduce((sum, count) => sum + count, 0)
  }

  return {
    async record(hour, docketId, error) {
      const isKnown = await keys.failedReasons({ hour }).has(docketId)
      // The list first: where the process dies in between, a docket stands there twice rather than not at all.
      if (!isKnown) await keys.failed({ hour }).pushFront({ stored: docketId })
      await note(hour, docketId, error)
    },
    list,
    resolve,
    async retry(hour, pass, attempt) {
      const recovered: string[] = []
      const failedAgain: string[] = []
      const seen = new Set<string>()
      // Oldest first; what fails meanwhile is seen in the next round.
      for (;;) {
        const fresh = (await list(hour)).toReversed().filter(({ docketId }) => !seen.has(docketId))
        if (fresh.length === 0) return { recovered, failedAgain }
        for (const { docketId } of fresh) {
          if (seen.has(docketId)) continue
          seen.add(docketId)
          if ((await keys.retried({ hour }).add(`${pass} ${docketId}`)) === 0) continue
          try {
            await attempt(docketId)
            recovered.push(docketId)
          } catch (error) {
            failedAgain.push(docketId)
            await note(hour, docketId, error instanceof Error ? error.message : String(error))
            continue
          }
          await resolve(hour, [docketId])
        }
      }
    },
  }
}
