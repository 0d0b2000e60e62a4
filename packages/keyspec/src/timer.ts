import { onAbort } from './abort.ts'

/** The longest delay that a timer of Node keeps; a longer one fires after 1 ms. */
export const LONGEST_DELAY_MS = 2 ** 31 - 1

/** A timer that has not fired yet. */
export interface Timer {
  /** Stops it; nothing happens where it has fired. */
  cancel(): void
}

/** What can be said of a timer. */
export interface TimerOptions {
  /** Whether the process stays alive for it. @default true */
  readonly keepsAlive?: boolean
}

/** Calls `done` once, `ms` from now, however far away that is: `Infinity` is never. */
export function after(ms: number, done: () => void, { keepsAlive = true }: TimerOptions = {}): Timer {
  let timer: NodeJS.Timeout
  const start = (leftMs: number) => {
    const stepMs = Math.min(leftMs, LONGEST_DELAY_MS)
    timer = setTimeout(() => (leftMs > stepMs ? start(leftMs - stepMs) : done()), stepMs)
    if (!keepsAlive) timer.unref()
  }
  start(ms)
  return { cancel: () => clearTimeout(timer) }
}

/** Calls `turn` every `ms`, however long that is. */
export function every(ms: number, turn: () => void, options: TimerOptions = {}): Timer {
  if (ms > LONGEST_DELAY_MS) return everyLong(ms, turn, options)
  const timer = setInterval(turn, ms)
  if (options.keepsAlive === false) timer.unref()
  return { cancel: () => clearInterval(timer) }
}

function everyLong(ms: number, turn: () => void, options: TimerOptions): Timer {
  const next = () => {
    timer = after(ms, next, options)
    turn()
  }
  let timer = after(ms, next, options)
  return { cancel: () => timer.cancel() }
}

/** Resolves `ms` from now, or as soon as `signal` aborts; it never rejects. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      timer.cancel()
      unheard?.()
      resolve()
    }
    const timer = after(ms, end)
    const unheard = signal === undefined ? undefined : onAbort(signal, end)
  })
}
