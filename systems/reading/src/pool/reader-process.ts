import { type ChildProcess, fork } from 'node:child_process'
import { NoReaderError, UnreadableError } from '../unreadable-error.ts'
import type { FromReader, ReaderLimits, ToReader } from './message.ts'

// Beyond what a machine under any load needs to start a process.
const START_MS = 60_000
const MiB = 1024 * 1024

/** A process that reads one document at a time. It keeps the program alive only while it reads. */
export class ReaderProcess {
  readonly #child: ChildProcess
  #settle:
    | { readonly resolve: (answer: FromReader) => void; readonly reject: (error: Error) => void }
    | undefined
  #end: UnreadableError | undefined

  private constructor(module: string, limits: ReaderLimits) {
    this.#child = fork(module, [JSON.stringify(limits)], {
      // Bytes travel as they are.
      serialization: 'advanced',
      // Nothing of this program's environment, which holds secrets, and nothing that a parser prints.
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [`--max-old-space-size=${Math.ceil(limits.maxResidentBytes / MiB)}`],
    })
    this.#child.on('message', (answer: FromReader) => this.#settled()?.resolve(answer))
    this.#child.once('error', () => this.#ended(failed('could not be started')))
    this.#child.once('exit', (code, signal) => this.#ended(endingOf(code, signal)))
  }

  /** Starts one, and waits until it can read. */
  static async start(module: string, limits: ReaderLimits): Promise<ReaderProcess> {
    const process = new ReaderProcess(module, limits)
    try {
      await process.#answer(START_MS, undefined)
    } catch (cause) {
      process.kill(cause as Error)
      throw new NoReaderError('the process that reads could not be started', { cause })
    }
    process.rest()
    return process
  }

  get isAlive(): boolean {
    return this.#end === undefined
  }

  /** Its answer; an `UnreadableError` where it has none within the time, or dies. It is killed when the signal aborts. */
  async ask(message: ToReader, withinMs: number, signal: AbortSignal | undefined): Promise<FromReader> {
    this.#child.ref()
    this.#child.channel?.ref()
    const answer = this.#answer(withinMs, signal)
    // Where it cannot be sent the process has ended, and says so.
    this.#child.send(message, () => {})
    return answer
  }

  /** Lets the program end while nothing is asked of this. */
  rest(): void {
    this.#child.unref()
    this.#child.channel?.unref()
  }

  /** Lets it end. */
  close(): void {
    this.#end ??= failed('was ended')
    if (this.#child.connected) this.#child.disconnect()
  }

  kill(why: Error): void {
    this.#ended(why instanceof UnreadableError ? why : failed('was ended'), why)
    this.#child.kill('SIGKILL')
  }

  async #answer(withinMs: number, signal: AbortSignal | undefined): Promise<FromReader> {
    if (this.#end !== undefined) throw this.#end
    const tooLong = () =>
      this.kill(new UnreadableError('took-too-long', 'reading it took longer than is allowed'))
    const aborted = () => this.kill(signal!.reason as Error)
    const timer = setTimeout(tooLong, Math.max(withinMs, 0))
    signal?.addEventListener('abort', aborted, { once: true })
    try {
      return await new Promise<FromReader>((resolve, reject) => (this.#settle = { resolve, reject }))
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', aborted)
    }
  }

  #ended(end: UnreadableError, why: Error = end): void {
    this.#end ??= end
    this.#settled()?.reject(why)
  }

  #settled() {
    const settle = this.#settle
    this.#settle = undefined
    return settle
  }
}

function failed(what: string): UnreadableError {
  return new UnreadableError('parser-failed', `the process that reads ${what}`)
}

function endingOf(code: number | null, signal: NodeJS.Signals | null): UnreadableError {
  // The first is its own watch, the second V8 at the limit of its heap.
  if (signal === 'SIGTERM' || signal === 'SIGABRT')
    return new UnreadableError('took-too-much-memory', 'reading it took more memory than is allowed')
  return failed(`ended with ${signal ?? `exit code ${code}`}`)
}
