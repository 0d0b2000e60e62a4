import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { inject } from 'vitest'

const root = join(import.meta.dirname, '..')

/** The library as plain JavaScript, for processes of their own: Node 20 cannot run the sources as they are. */
export interface Compiled extends Disposable {
  /**
   * Runs lines of an ES module in a Node process: `library` is the folder of the compiled library (`await
   * import(library + '/index.js')`), `given` what it is told, `say(message)` talks to the test, `told()` listens to it.
   * Where the client is of no account, `await lean(socket)` gives `{ keyspec, connection, command }` in a moment: all that
   * the library and its recipes export, and the Redis at a socket over the smallest client there is.
   */
  run(lines: string, given: unknown): Program
}

/** A process of its own that runs a few lines for a test. */
export interface Program {
  /** The next message it says; rejects when it has ended, with what it complained of. */
  next(): Promise<unknown>
  /** Says something to it. */
  tell(message: unknown): void
  /** Signals it: SIGSTOP, SIGCONT. */
  signal(signal: NodeJS.Signals): void
  /** Ends it with SIGKILL, and comes back when it is gone. */
  kill(): Promise<void>
}

/** The library's sources, compiled before the first test (library.ts). Every program ends with it. */
export function compiledLibrary(): Compiled {
  const folder = inject('library')
  const children = new Set<ChildProcess>()
  return {
    run(lines, given) {
      const source = prelude(folder, given) + lines
      const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
        cwd: root,
        stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      })
      children.add(child)
      child.once('exit', () => children.delete(child))
      return programOf(child)
    },
    [Symbol.dispose]() {
      for (const child of children) child.kill('SIGKILL')
    },
  }
}

/** It ends when the test does: then nobody listens to it any more. */
function prelude(folder: string, given: unknown): string {
  return `
    process.on('disconnect', () => process.exit())
    const heard = [], listening = []
    process.on('message', (message) => {
      const listener = listening.shift()
      if (listener) listener(message)
      else heard.push(message)
    })
    const told = () => heard.length > 0 ? heard.shift() : new Promise((resolve) => listening.push(resolve))
    const say = (message) => process.send(message)
    const given = ${JSON.stringify(given)}
    const library = ${JSON.stringify(folder)}

    async function lean(path) {
      const keyspec = { ...(await import(library + '/index.js')), ...(await import(library + '/recipe/index.js')) }
      const { rawConnection } = await import(library + '/testing/resp.js')
      const raw = rawConnection({ path })
      const connection = {
        client: 'raw',
        cluster: false,
        masters: async () => [connection],
        send: (words, shape) => (shape.bytes ? raw.commandBuffer(...words) : raw.command(...words)),
      }
      // Each on a connection of its own, so that one that blocks holds up no other.
      return { keyspec, connection, command: (...words) => rawConnection({ path }).command(...words) }
    }
  `
}

function programOf(child: ChildProcess): Program {
  let complaint = ''
  child.stderr?.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  const said: unknown[] = []
  const waiting: { resolve: (message: unknown) => void; reject: (error: Error) => void }[] = []
  child.on('message', (message) => {
    const next = waiting.shift()
    if (next === undefined) said.push(message)
    else next.resolve(message)
  })
  const ended = once(child, 'close').then(([code, signal]: unknown[]) => {
    const error = new Error(`The program ended with ${String(signal ?? code)}. ${complaint}`)
    for (const { reject } of waiting.splice(0)) reject(error)
    return error
  })
  return {
    async next() {
      if (said.length > 0) return said.shift()
      if (child.exitCode !== null || child.signalCode !== null) throw await ended
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
    },
    tell: (message) => void child.send(message as object),
    signal: (signal) => void child.kill(signal),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
