/** Starts what it is given in the order it was given, at most `size` at a time; the rest wait for their turn. */
export class Window {
  readonly #size: number
  #open = 0
  readonly #waiting: (() => void)[] = []
  #next = 0

  constructor(size: number) {
    this.#size = size
  }

  run<T>(start: () => Promise<T>): Promise<T> {
    if (this.#open < this.#size) return this.#watched(start)
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        this.#watched(start).then(resolve, reject)
      })
    })
  }

  #watched<T>(start: () => Promise<T>): Promise<T> {
    this.#open++
    let running: Promise<T>
    try {
      running = start()
    } catch (error) {
      running = Promise.reject(error)
    }
    running.then(this.#leave, this.#leave)
    return running
  }

  readonly #leave = () => {
    this.#open--
    const next = this.#waiting[this.#next]
    if (next === undefined) return
    this.#next++
    // Now and then, so that a long queue is not moved for every call.
    if (this.#next === this.#waiting.length || this.#next === 1_024) {
      this.#waiting.splice(0, this.#next)
      this.#next = 0
    }
    next()
  }
}
