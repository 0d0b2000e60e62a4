import { KeyspecError } from 'keyspec'

/** How far an operation has come. */
export interface Step<R> {
  /** How many keys have had their turn; the operation says which keys it counts. It never falls. */
  readonly done: number
  /** How many there are to do, where that is known: an estimate while the server goes on. */
  readonly total: number | undefined
  /** How many were done a second since the operation began, by the monotonic clock; 0 at first. */
  readonly perSecond: number
  /** What the result is so far. It goes on counting while the operation runs. */
  readonly soFar: Readonly<R>
}

/**
 * A long operation: iterate over it to watch its steps, or await it for its result. Either begins it, and nothing happens
 * before. It runs once, step by step, as fast as its steps are taken; awaited, it takes them by itself. After a loop to the
 * end, `await` returns the result. Do not await it inside its own loop, which would wait for itself.
 *
 * A loop that is left before the end (`break`, an error in it) stops the operation after the step under way; `await` then
 * rejects with a `StoppedError`. What was done stays done.
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

/** An operation was stopped by whoever watched it, so it has no result. What it had done by then stays done. */
export class StoppedError extends KeyspecError {
  readonly code = 'E_STOPPED'
}

/** The steps of an operation, and at their end its result. */
export type Steps<R, S extends Step<R> = Step<R>> = AsyncGenerator<S, R>

/** Returns the operation that takes these steps. `begin` is called when somebody iterates or awaits, and once. */
export function operation<R, S extends Step<R> = Step<R>>(begin: () => Steps<R, S>): Operation<R, S> {
  return new Run(begin)
}

class Run<R, S extends Step<R>> implements Operation<R, S> {
  readonly [Symbol.toStringTag] = 'Operation'
  readonly #begin: () => Steps<R, S>
  readonly #result: Promise<R>
  #resolve!: (result: R) => void
  #reject!: (error: unknown) => void
  #begun = false

  constructor(begin: () => Steps<R, S>) {
    this.#begin = begin
    this.#result = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // Whoever iterates is told by the iterator, and may never ask for the result.
    this.#result.catch(() => {})
  }

  [Symbol.asyncIterator](): AsyncIterator<S, undefined> {
    if (this.#begun) return refusing()
    this.#begun = true
    const steps = this.#begin()
    return {
      next: () => this.#next(steps),
      return: async () => {
        await steps.return(undefined as R)
        this.#reject(
          new StoppedError('the operation was stopped before its end; what it had done stays done'),
        )
        return { done: true, value: undefined }
      },
    }
  }

  // oxlint-disable-next-line unicorn/no-thenable -- awaiting it is enough to run it
  then<A = R, B = never>(
    fulfilled?: ((result: R) => A | PromiseLike<A>) | null,
    rejected?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    if (!this.#begun) {
      this.#begun = true
      void this.#drain()
    }
    return this.#result.then(fulfilled, rejected)
  }

  catch<B = never>(rejected?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<R | B> {
    return this.then(undefined, rejected)
  }

  finally(settled?: (() => void) | null): Promise<R> {
    return this.then((result) => result).finally(settled)
  }

  async #next(steps: Steps<R, S>): Promise<IteratorResult<S, undefined>> {
    try {
      const step = await steps.next()
      if (step.done !== true) return step
      this.#resolve(step.value)
      return { done: true, value: undefined }
    } catch (error) {
      this.#reject(error)
      throw error
    }
  }

  async #drain(): Promise<void> {
    try {
      const steps = this.#begin()
      for (;;) if ((await this.#next(steps)).done === true) return
    } catch (error) {
      this.#reject(error)
    }
  }
}

/** Verbs reject and never throw, a loop over an operation that runs already among them. */
function refusing(): AsyncIterator<never, undefined> {
  return {
    next: () =>
      Promise.reject(
        new TypeError('this operation runs already, and its steps are taken once: make another'),
      ),
  }
}

/** Makes the steps of one operation, whose numbers have one clock and one result. */
export class Progress<R> {
  readonly #began = performance.now()
  readonly #soFar: () => R
  #done = 0

  /** @param soFar Returns the result so far, when somebody looks at it. */
  constructor(soFar: () => R) {
    this.#soFar = soFar
  }

  step(done: number, total?: number): Step<R> {
    this.#done = Math.max(this.#done, done)
    const seconds = (performance.now() - this.#began) / 1000
    const read = this.#soFar
    return {
      done: this.#done,
      total: total === undefined ? undefined : Math.max(total, this.#done),
      perSecond: seconds > 0 ? this.#done / seconds : 0,
      get soFar() {
        return read()
      },
    }
  }
}
