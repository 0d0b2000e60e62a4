import { openSync, writeSync } from 'node:fs'
import { KeyspecError } from 'keyspec'
import { now } from '../clock.ts'
import type { Outcome } from '../history.ts'

/** The name of a call in the history. */
export interface Call {
  readonly recipe: string
  readonly verb: string
  readonly key: string
  readonly asked?: unknown
}

/** The result of a recorded call: its value, or how it failed. */
export type Recorded<T> = { readonly value: T } | { readonly failed: 'no' | 'lost' }

/** Runs calls and writes each into the history. `keep` makes what is written of a value; by default the value itself. */
export type Record = <T>(
  call: Call,
  work: () => Promise<T>,
  keep?: (value: T) => unknown,
) => Promise<Recorded<T>>

/** The bound within which every verb must settle, on a busy machine and through a failover too. */
export const BOUND_MS = 30_000

/** Opens a history. Lines are written at once, so that they survive a `kill -9`. */
export function recorderOf(file: string, boundMs = BOUND_MS): Record {
  const history = openSync(file, 'a')
  const write = (entry: object) => writeSync(history, `${JSON.stringify(entry)}\n`)
  let last = 0

  return async ({ recipe, verb, key, asked }, work, keep = (value) => value) => {
    const n = (last += 1)
    write({ n, r: recipe, v: verb, k: key, a: asked, s: now() })
    let threw: true | undefined
    let timer: NodeJS.Timeout | undefined
    try {
      let pending: ReturnType<typeof work>
      try {
        pending = work()
      } catch (error) {
        threw = true
        throw error
      }
      const value = await Promise.race([
        pending,
        new Promise<never>((_resolve, reject) => {
          timer = setTimeout(() => reject(new Hung()), boundMs)
        }),
      ])
      const ok = keep(value) ?? null
      write({ n, e: now(), ok })
      return { value }
    } catch (error) {
      const outcome = outcomeOf(error)
      write({ n, e: now(), ...outcome, threw })
      return { failed: 'no' in outcome ? 'no' : 'lost' }
    } finally {
      clearTimeout(timer)
    }
  }
}

class Hung extends Error {}

/** An error of Keyspec says that nothing was applied, but for those that say that nobody knows. */
function outcomeOf(error: unknown): Exclude<Outcome, { readonly ok: unknown }> {
  if (error instanceof Hung) return { lost: 'HUNG' }
  if (error instanceof KeyspecError)
    return error.code === 'E_UNKNOWN_OUTCOME' ? { lost: error.code } : { no: error.code }
  if (error instanceof TypeError || error instanceof RangeError) return { no: error.message }
  return { lost: error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 80) : 'not an error' }
}
