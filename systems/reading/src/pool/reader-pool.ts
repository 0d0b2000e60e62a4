import { NoReaderError, UnreadableError } from '../unreadable-error.ts'
import type { FromReader } from './message.ts'
import { ReaderProcess } from './reader-process.ts'
import type { Tasks } from './serve-reader.ts'

/** How documents are read. */
export interface ReaderPoolOptions {
  /** How many are read at once; 2 unless told. */
  readonly processes?: number
  /** How many may wait for that; 16 unless told. */
  readonly waiting?: number
  /** For how long a process may work on one document, what its consumer does meanwhile not counted; 20 s unless told. */
  readonly deadlineMs?: number
  /** The most that a process may hold in memory, its program included; 512 MiB unless told. */
  readonly maxResidentBytes?: number
  /** After which time without work a process ends; 30 s unless told. */
  readonly idleMs?: number
}

/** What can be said of one document. */
export interface ReadOptions {
  readonly signal?: AbortSignal | undefined
  /** In place of the pool's. */
  readonly deadlineMs?: number
}

type ItemOf<R> = R extends AsyncIterable<infer T> ? T : Awaited<R>

/** Reads documents of strangers in processes of their own. */
export interface ReaderPool<T extends Tasks> {
  /**
   * What a task answers. An `UnreadableError` where the document is at fault, a `NoReaderError` where too many wait or none could be started;
   * an abort kills the process that reads.
   */
  read<N extends string & keyof T>(
    task: N,
    given: Parameters<T[N]>,
    options?: ReadOptions,
  ): Promise<ItemOf<ReturnType<T[N]>>>
  /** Likewise, one item after another: the next is made when it is asked for. */
  each<N extends string & keyof T>(
    task: N,
    given: Parameters<T[N]>,
    options?: ReadOptions,
  ): AsyncGenerator<ItemOf<ReturnType<T[N]>>>
  /** Ends the processes; what is being read is no longer. */
  close(): void
}

/**
 * A small pool of processes that can be killed, for parsers of what strangers send. None is started before the first
 * document, and none keeps the program alive.
 *
 * @param module the path of a program that calls `serveReader` with the tasks.
 */
export function readerPool<T extends Tasks>(
  module: string,
  {
    processes: most = 2,
    waiting: mostWaiting = 16,
    deadlineMs = 20_000,
    maxResidentBytes = 512 * 1024 * 1024,
    idleMs = 30_000,
  }: ReaderPoolOptions = {},
): ReaderPool<T> {
  const turns = new Turns(most, mostWaiting)
  const idle: ReaderProcess[] = []
  const all = new Set<ReaderProcess>()
  let retiring: NodeJS.Timeout | undefined

  async function take(): Promise<ReaderProcess> {
    clearTimeout(retiring)
    for (let process = idle.pop(); process !== undefined; process = idle.pop()) {
      if (process.isAlive) return process
      all.delete(process)
    }
    const started = await ReaderProcess.start(module, { maxResidentBytes })
    all.add(started)
    return started
  }

  function putBack(process: ReaderProcess): void {
    process.rest()
    if (!process.isAlive) all.delete(process)
    else idle.push(process)
    clearTimeout(retiring)
    retiring = setTimeout(() => retire(idle.splice(0)), idleMs).unref()
  }

  /** Ends a process that has kept much: what earlier documents left behind is not the next one's fault. */
  function freshen(process: ReaderProcess, answer: FromReader | undefined): void {
    if (answer?.said === 'end' && answer.residentBytes > maxResidentBytes / 2) process.close()
  }

  function retire(ended: readonly ReaderProcess[]): void {
    for (const process of ended) {
      process.close()
      all.delete(process)
    }
  }

  async function* each(
    task: string,
    given: readonly unknown[],
    { signal, deadlineMs: withinMs = deadlineMs }: ReadOptions = {},
  ): AsyncGenerator<any> {
    signal?.throwIfAborted()
    await turns.take(signal)
    let process: ReaderProcess | undefined
    let isOpen = false
    let left = withinMs
    const ask: ReaderProcess['ask'] = async (message, withinMs) => {
      const since = performance.now()
      try {
        return await process!.ask(message, withinMs, signal)
      } finally {
        left -= performance.now() - since
      }
    }
    try {
      process = await take()
      signal?.throwIfAborted()
      isOpen = true
      for (let answer = await ask({ ask: 'begin', task, given }, left, signal); ;) {
        if (answer.said === 'unreadable') {
          isOpen = false
          throw new UnreadableError(answer.reason, answer.message)
        }
        if (answer.said === 'end') {
          isOpen = false
          freshen(process, answer)
          return
        }
        if (answer.said === 'item') yield answer.item
        answer = await ask({ ask: 'next' }, left, signal)
      }
    } finally {
      if (process !== undefined) {
        if (isOpen && process.isAlive) {
          const answer = await process.ask({ ask: 'leave' }, left, undefined).catch(() => undefined)
          freshen(process, answer)
        }
        putBack(process)
      }
      turns.giveBack()
    }
  }

  return {
    async read(task, given, options) {
      for await (const item of each(task, given, options)) return item
      throw new UnreadableError('parser-failed', `${task} gave nothing`)
    },
    each,
    close() {
      clearTimeout(retiring)
      idle.length = 0
      for (const process of all) process.kill(new UnreadableError('parser-failed', 'the readers were closed'))
      all.clear()
    },
  }
}

/** So many at once, and so many more in a queue, first come, first served. */
class Turns {
  readonly #mostWaiting: number
  readonly #waiting = new Set<() => void>()
  #free: number

  constructor(most: number, mostWaiting: number) {
    this.#free = most
    this.#mostWaiting = mostWaiting
  }

  async take(signal: AbortSignal | undefined): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1
      return
    }
    if (this.#waiting.size >= this.#mostWaiting)
      throw new NoReaderError(`${this.#waiting.size} documents wait to be read already: try again later`)
    await new Promise<void>((resolve, reject) => {
      const mine = () => {
        signal?.removeEventListener('abort', aborted)
        resolve()
      }
      const aborted = () => {
        this.#waiting.delete(mine)
        reject(signal!.reason as Error)
      }
      this.#waiting.add(mine)
      signal?.addEventListener('abort', aborted, { once: true })
    })
  }

  giveBack(): void {
    const [first] = this.#waiting
    if (first === undefined) {
      this.#free += 1
      return
    }
    this.#waiting.delete(first)
    first()
  }
}
