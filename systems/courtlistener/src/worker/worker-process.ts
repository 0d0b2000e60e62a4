import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { ownFile } from '@keyspec-systems/program'
import type { FromWorker, ToWorker } from './message.ts'

/** A worker in a process of its own, started again when it dies. */
export class WorkerProcess {
  readonly #nth: number
  readonly #env: Readonly<Record<string, string>>
  readonly #log: (line: string) => void
  #child: ReturnType<typeof fork>
  #first: Promise<unknown>
  #earlier = { admitted: 0, rejected: 0 }
  #now = { admitted: 0, rejected: 0 }

  constructor(nth: number, env: Readonly<Record<string, string>>, log: (line: string) => void) {
    this.#nth = nth
    this.#env = env
    this.#log = log
    this.#child = this.#launch()
    this.#first = this.#next()
  }

  get calls() {
    return {
      admitted: this.#earlier.admitted + this.#now.admitted,
      rejected: this.#earlier.rejected + this.#now.rejected,
    }
  }

  async ready(): Promise<void> {
    if ((await this.#first) === undefined)
      throw new Error(`worker ${this.#nth} did not start; its words are above`)
  }

  /** What it says to this; `undefined` where it died over it, and another is in its place. */
  async ask(message: ToWorker): Promise<FromWorker | undefined> {
    const next = this.#next()
    this.#child.send(message, () => {})
    const answer = await next
    if (answer === undefined) {
      this.#log(`worker ${this.#nth} died; it is started again`)
      this.#earlier = this.calls
      this.#now = { admitted: 0, rejected: 0 }
      this.#child = this.#launch()
      this.#first = this.#next()
      await this.ready()
      return undefined
    }
    if (answer.said === 'error') throw new Error(answer.error)
    if (answer.said !== 'ready') this.#now = answer.calls
    return answer
  }

  /** Has it leave what it is at, such as waiting for the next hour. */
  stop(): void {
    this.#child.send({ stop: true } satisfies ToWorker, () => {})
  }

  /** Lets it end, and ends it where it does not within twelve seconds. */
  async end(): Promise<void> {
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.send({ end: true } satisfies ToWorker, () => {})
    const hard = setTimeout(() => child.kill('SIGKILL'), 12_000)
    await exit
    clearTimeout(hard)
  }

  #launch(): ReturnType<typeof fork> {
    const child = fork(ownFile(import.meta.url, 'program/worker/worker-main.js'), {
      env: { ...process.env, ...this.#env },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    createInterface({ input: child.stderr! }).on('line', (line) => this.#log(`worker ${this.#nth}: ${line}`))
    return child
  }

  async #next(): Promise<FromWorker | undefined> {
    const child = this.#child
    const done = new AbortController()
    const { signal } = done
    try {
      return await Promise.race([
        once(child, 'message', { signal }).then(([message]) => message as FromWorker),
        once(child, 'exit', { signal }).then(() => undefined),
      ])
    } finally {
      done.abort()
    }
  }
}
