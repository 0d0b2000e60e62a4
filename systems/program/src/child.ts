import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** One program of the system, as a process that is started again when it ends unasked. */
export interface Child {
  readonly name: string
  /** Where it can be reached, if it is a server: known when `start` has come back. */
  readonly url: string | undefined
  readonly pid: number | undefined
  /** Ends with the exit code of a program that is not to be started again. */
  readonly ended: Promise<number>
  /** Asks it to end (SIGTERM), and ends it (SIGKILL) when it has not after ten seconds. */
  stop(): Promise<void>
}

/** How a program is started. */
export interface ChildOptions {
  readonly name: string
  readonly module: string
  readonly arguments?: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Started again when it ends by itself, whatever the reason. */
  readonly restarts: boolean
  /** What the program says, and what is to be said of it; `isError` for what it said on stderr. */
  readonly log: (line: string, isError: boolean) => void
}

/** Starts a program and waits until it says that it is ready. It ends by itself when this process is gone. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { name, restarts, log } = options
  let stopping = false
  let process_: ChildProcess | undefined
  let url: string | undefined
  let settle: (code: number) => void
  const ended = new Promise<number>((resolve) => (settle = resolve))

  async function launch(): Promise<void> {
    const child = spawn(options, url)
    process_ = child
    createInterface({ input: child.stdout! }).on('line', (line) => log(`${name}: ${line}`, false))
    createInterface({ input: child.stderr! }).on('line', (line) => log(`${name}: ${line}`, true))
    // Not 'exit': by then its last words may still be on their way.
    child.once('close', (code, signal) => {
      if (!stopping && restarts) {
        log(`${name} ended with ${signal ?? `exit code ${code}`}; it is started again`, true)
        // A pause, lest a program that cannot start does nothing else.
        setTimeout(() => {
          if (!stopping) launch().catch((error: Error) => log(`${name}: ${error.message}`, true))
        }, 300)
      } else {
        settle(code ?? 1)
      }
    })
    const [first] = (await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [])])) as [
      { readonly url?: string } | undefined,
    ]
    url = first?.url ?? url
  }

  await launch()
  return {
    name,
    get url() {
      return url
    },
    get pid() {
      return process_?.pid
    },
    ended,
    async stop() {
      stopping = true
      const child = process_
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      const hard = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await exit
      clearTimeout(hard)
    },
  }
}

function spawn({ module, arguments: words = [], env }: ChildOptions, url: string | undefined): ChildProcess {
  // Started again, a server keeps its port, so that its clients find it.
  const port = url === undefined ? {} : { PORT: new URL(url).port }
  return fork(module, words, {
    env: { ...process.env, ...env, ...port },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // In a group of its own: a Ctrl-C in the terminal reaches the main job alone, which ends the others in order.
    detached: true,
  })
}
