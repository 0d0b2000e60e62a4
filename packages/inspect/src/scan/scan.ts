import { setImmediate } from 'node:timers/promises'
import type { Connection } from 'keyspec'
import type { Fact, KeyFacts } from './facts.ts'
import { placeOf, shares, startOf } from './sample.ts'
import { stepper } from './scan-step.ts'
import { throttle } from './throttle.ts'

export { type Fact, inspectKeys, type KeyFacts } from './facts.ts'

/** How a walk goes. */
export interface ScanOptions {
  /** Only keys that begin with this text. */
  readonly prefix?: string | undefined
  readonly facts?: readonly Fact[]
  /**
   * How many keys one step is to look at, at the most: 50 unless told, and up to 1000 where the walk takes no rest, as many
   * as a step that holds the server for some 3 ms.
   */
  readonly count?: number | undefined
  /** The largest part of the server's time to take, above 0 and up to 1 (no rest): 0.1 unless told. */
  readonly maxLoad?: number | undefined
  /**
   * Look at about so many keys rather than at all: those that follow a random place in the hash table of each master.
   * Keys stand there in the order of their hashes, so that these are as good as drawn (but on a cluster with a table for
   * each slot, as of Redis 7.4 and Valkey 8, keys of one slot come together).
   */
  readonly sample?: number | undefined
  /** What draws that place, as `Math.random` does. */
  readonly random?: (() => number) | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Every key of every master, step by step with SCAN, as batches. A key that comes or goes meanwhile may be missed, and one
 * may be shown twice while the server rehashes. Each step is one script of bounded length, and the walk rests after it.
 */
export async function* scanKeys(
  connection: Connection,
  options: ScanOptions = {},
): AsyncGenerator<readonly KeyFacts[]> {
  for await (const { keys } of steps(connection, options)) if (keys.length > 0) yield keys
}

/** One step of a walk. */
export interface ScanStep {
  readonly keys: readonly KeyFacts[]
  /** Which of the masters it was, from 0. */
  readonly master: number
}

/** The steps of a `scanKeys`, those that found nothing too, and on which master they were. */
export async function* steps(connection: Connection, options: ScanOptions = {}): AsyncGenerator<ScanStep> {
  const masters = await connection.masters()
  const rest = throttle(options.maxLoad, options.signal)
  const ask = stepper(options)
  const limits = options.sample === undefined ? undefined : await shares(masters, options.sample)
  const random = options.random ?? Math.random
  // Where all of the server's time may be taken, it is at the next step while this one is looked at.
  const ahead = options.maxLoad === 1 && options.sample === undefined
  for (const [index, master] of masters.entries()) {
    const start = limits === undefined ? 0 : startOf(limits[index]!.size, random)
    let cursor = String(start)
    let limit = limits?.[index]!.limit ?? Infinity
    let wrapped = start === 0
    let first: Set<string> | undefined
    if (limit <= 0) continue
    const next = () => rest(() => ask(master, cursor, limit, connection))
    let asked = next()
    for (let last = false; !last;) {
      const step = await asked
      options.signal?.throwIfAborted()
      if (ahead && step.next !== '0') {
        cursor = step.next
        asked = next()
        // Whoever has seen enough never asks what became of it.
        asked.catch(() => undefined)
        // Clients write when the turn of the event loop is over: reading this answer first would hold the next one back.
        await setImmediate()
        yield { keys: await step.read(), master: index }
        continue
      }
      let keys = await step.read()
      if (start !== 0) {
        // The last step of a sample that went all the way round may reach into its first.
        if (first === undefined) first = new Set(keys.map(({ key }) => key.toString('latin1')))
        else if (wrapped) keys = keys.filter(({ key }) => !first!.has(key.toString('latin1')))
      }
      limit -= keys.length
      cursor = step.next
      if (limit <= 0) last = true
      else if (cursor === '0') {
        last = wrapped
        wrapped = true
      } else if (wrapped && start !== 0 && placeOf(Number(cursor)) >= placeOf(start)) last = true
      yield { keys, master: index }
      if (!last) asked = next()
    }
  }
}
