import { KeyspecError } from 'keyspec'

/** How far an operation has come. */
export interface Step<R> {
  /** How many keys have had their turn; each operation says which keys it counts. It never falls. */
  readonly done: number
  /** How many keys there are to do, or `undefined` where that is unknown. It is an estimate while the server goes on. */
  readonly total: number | undefined
  /** How many keys were done a second since the operation began, by the monotonic clock; 0 at first. */
  readonly perSecond: number
  /** What the result would be at the moment when this is read. */
  readonly soFar: Readonly<R>
}

/**
 * A long operation: iterate over it to watch its steps, or await it for its result. The first step or the first `await` begins
 * it, and nothing happens before. It runs once. A loop sets the pace: no step is made before it is asked for. `await` takes
 * the steps by itself. After a loop to the end, `await` returns the result. An `await` inside the loop waits for ever, since
 * the loop cannot go on.
 *
 * A loop that is left before the end (`break`, an error in it) stops the operation after the step under way; `await` then
 * rejects with a `StoppedError`. The operation undoes nothing.
 *
 * @example
 * const { keys } = await erase(schema, connection, { subject: { userId: 42 } })
 * @example
 * const erasing = erase(schema, connection, { under: 'cache:' })
 * for await (const { done, perSecond } of erasing) log.info(`${done} erased, ${perSecond} a second`)
 * const { keys } = await erasing
 */
export interface Operation<R, S extends Step<R> = Step<R>> extends AsyncIterable<S>, Promise<R> {
  [Symbol.asyncIterator](): AsyncIterator<S, undefined>
}

/** An operation was stopped by the loop over its steps, so it has no result. It undoes nothing of what it did. */
export class StoppedError extends KeyspecError {
  readonly code = 'E_STOPPED'
}

/** A second loop over the steps of an operation, which are taken once; the operation goes on as it was. */
export class StartedTwiceError extends KeyspecError {
  readonly code = 'E_STARTED_TWICE'
}

/** The steps of an operation, and at their end its result. */
export type Steps<R, S extends Step<R> = Step<R>> = AsyncGenerator<S, R>

/** Returns the operation that takes these steps. `begin` is called once, when the first step is taken. */
export function operation<R, S extends Step<R> = Step<R>>(begin: () => Steps<R, S>): Operation<R, S> {
  return new Run(begin)
}

class Run<R, S extends Step<R>> implements Operation<R, S> {
  readonly [Symbol.toStringTag] = 'Operation'
  readonly #begin: () => Steps<R, S>
  readonly #result: Promise<R>
  #resolve!: (result: R) => void
  #reject!: (error: unknown) => void
  #steps: Steps<R, S> | undefined
  #isTaken = false
  #isStopped = false

  constructor(begin: () => Steps<R, S>) {
    this.#begin = begin
    this.#result = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // A loop is told of an error by its iterator, and the program may never ask for the result.
    this.#result.catch(() => {})
  }

  [Symbol.asyncIterator](): AsyncIterator<S, undefined> {
    let isMine = false
    const takes = () => (isMine ||= this.#take())
    return {
      next: async () => {
        if (!takes())
          throw new StartedTwiceError(
            'this operation runs already, and its steps are taken once: make another',
          )
        return this.#next()
      },
      return: async () => {
        // An iterator that was refused must not stop the operation of another.
        if (takes()) await this.#stop()
        return { done: true, value: undefined }
      },
    }
  }

  // oxlint-disable-next-line unicorn/no-thenable -- awaiting it is enough to run it
  then<A = R, B = never>(
    fulfilled?: ((result: R) => A | PromiseLike<A>) | null,
    rejected?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    if (this.#take()) void this.#drain()
    return this.#result.then(fulfilled, rejected)
  }

  catch<B = never>(rejected?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<R | B> {
    return this.then(undefined, rejected)
  }

  finally(settled?: (() => void) | null): Promise<R> {
    return this.then((result) => result).finally(settled)
  }

  /** Returns true for the first that takes steps, and false for all others. */
  #take(): boolean {
    const isFirst = !this.#isTaken
    this.#isTaken = true
    return isFirst
  }

  async #next(): Promise<IteratorResult<S, undefined>> {
    if (this.#isStopped) return { done: true, value: undefined }
    try {
      this.#steps ??= this.#begin()
      const step = await this.#steps.next()
      if (step.done !== true) return step
      this.#resolve(step.value)
      return { done: true, value: undefined }
    } catch (error) {
      this.#reject(error)
      throw error
    }
  }

  async #stop(): Promise<void> {
    this.#isStopped = true
    try {
      await this.#steps?.return(undefined as R)
      this.#reject(new StoppedError('the operation was stopped before its end; what it had done stays done'))
    } catch (error) {
      this.#reject(error)
      throw error
    }
  }

  async #drain(): Promise<void> {
    try {
      while ((await this.#next()).done !== true);
    } catch {
      // `#result` has the error.
    }
  }
}

/** Makes the steps of one operation, whose numbers have one clock and one result. */
export class Progress<R> {
  readonly #began = performance.now()
  readonly #soFar: () => R
  #done = 0

  /** @param soFar Returns the result so far, a copy that later steps leave as it is. It is called when somebody reads it. */
  constructor(soFar: () => R) {
    this.#soFar = soFar
  }

  /** Returns a step with what it found (`rows`). */
  step(done: number, total?: number): Step<R>
  step<T extends object>(done: number, total: number | undefined, rows: T): Step<R> & T
  step(done: number, total?: number, rows: object = {}): Step<R> {
    this.#done = Math.max(this.#done, done)
    const seconds = (performance.now() - this.#began) / 1000
    const read = this.#soFar
    const step: Step<R> = {
      done: this.#done,
      total: total === undefined ? undefined : Math.max(total, this.#done),
      perSecond: seconds > 0 ? this.#done / seconds : 0,
      get soFar() {
        return read()
      },
    }
    // Not a spread, which would read the result at every step.
    return Object.assign(step, rows)
  }
}
