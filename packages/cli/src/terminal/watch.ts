import type { Operation, Step } from '@keyspec/inspect'
import type { Call } from '../command.ts'
import { headway } from '../render/headway.ts'
import { counted } from '../render/units.ts'

/** How the steps of an operation are shown. */
export interface WatchOptions<R, S extends Step<R>> {
  /** What is done with the keys: `looked at`, before or behind their number. */
  readonly doing?: string
  readonly done?: string
  /** How many keys there are to do, and how many were done: where an operation does less than it looks at. */
  readonly of?: { readonly total: number; count(soFar: R): number }
  /** Another line of progress. */
  readonly say?: (step: S) => string
  /** Called with each step. */
  readonly each?: (step: S) => void | Promise<void>
}

/** Runs an operation with its line of progress, the one place where progress is shown. */
export async function watch<R, S extends Step<R>>(
  call: Pick<Call, 'log'>,
  running: Operation<R, S>,
  options: WatchOptions<R, S> = {},
): Promise<R> {
  const { log } = call
  try {
    for await (const step of running) {
      await options.each?.(step)
      log.progress(() => options.say?.(step) ?? lineOf(step, options))
    }
    return await running
  } finally {
    log.done()
  }
}

/**
 * `watch` for an operation that changes something: where it ends early, `stopped` is called with what was done by then. Returns
 * `undefined` if the user stopped it.
 */
export async function watchChange<R, S extends Step<R>>(
  call: Pick<Call, 'log' | 'signal'>,
  running: Operation<R, S>,
  {
    stopped,
    ...options
  }: WatchOptions<R, S> & { readonly stopped: (soFar: Readonly<R> | undefined) => void },
): Promise<R | undefined> {
  let last: S | undefined
  try {
    return await watch(call, running, {
      ...options,
      async each(step) {
        last = step
        await options.each?.(step)
      },
    })
  } catch (error) {
    stopped(last?.soFar)
    if (call.signal.aborted) return undefined
    throw error
  }
}

function lineOf<R, S extends Step<R>>(
  { done, total, perSecond, soFar }: S,
  { doing, done: verb, of }: WatchOptions<R, S>,
): string {
  const counts =
    of !== undefined
      ? headway({ done: of.count(soFar), total: of.total, perSecond })
      : total === undefined
        ? counted(done, 'key')
        : headway({ done, total, perSecond })
  return [doing, counts, verb].filter((part) => part !== undefined).join(' ')
}
