import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, closeSync, constants, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { sleep } from '../timer.ts'
import { TestServerError } from './test-server-error.ts'
import { guard } from './guard.ts'
import { freePort } from './port.ts'
import { rawConnection, type RawConnection } from './resp.ts'

/** How a temporary Redis differs from the plain one. */
export interface RedisOptions {
  /** Lines of redis.conf, spelled as there: `{ maxmemory: '4mb', save: '900 1' }`. They win over the defaults. */
  readonly config?: Readonly<Record<string, string>>
  /** `'none'` (the default): the unix socket only. `'any'`: a free port on 127.0.0.1 as well. */
  readonly port?: 'none' | 'any'
  /** The program to run; otherwise `redis-server`, or else `valkey-server`, from the PATH. */
  readonly binary?: string
  /** More words for its command line, such as `--sentinel`. */
  readonly arguments?: readonly string[]
}

/** A private Redis server that ends, and whose files go, with this process at the latest. */
export interface TemporaryRedis extends AsyncDisposable, Pick<RawConnection, 'command' | 'commandBuffer'> {
  /** Where its unix socket is. */
  readonly socket: string
  /** Its port on 127.0.0.1, if it has one. */
  readonly port: number | undefined
  /** `redis://127.0.0.1:<port>` if it has a port, `unix://<socket>` if not. */
  readonly url: string
  /** Its process, while it runs. A restart gives another. */
  readonly pid: number | undefined
  /** The directory of its socket, configuration, log and data. */
  readonly directory: string
  /** All that it has logged so far. */
  log(): string
  /** Stops it in its tracks (SIGSTOP): connections stay open and nothing is answered until `resume`. */
  pause(): void
  /** Lets a paused server go on. */
  resume(): void
  /** Ends it at once (SIGKILL), as a crash would: what it had not saved is lost, its directory stays. */
  kill(): Promise<void>
  /** Starts it again on the same socket and port, after ending it if it runs. */
  restart(): Promise<void>
  /** Ends it and removes its directory. */
  stop(): Promise<void>
}

/**
 * Starts a private Redis on a unix socket in a new temporary directory: nothing persisted, nothing shared, ready to
 * answer. An `Error` says what to install when there is no Redis, or what the server logged when it did not start.
 *
 * @example
 * const redis = await startRedis()
 * await redis.command('SET', 'a', 'b')
 * await redis.stop()
 */
export async function startRedis(options: RedisOptions = {}): Promise<TemporaryRedis> {
  const binary = options.binary ?? findServer()
  for (let attempt = 1; ; attempt += 1) {
    const redis = prepare(binary, options, options.port === 'any' ? await freePort() : undefined)
    try {
      await redis.restart()
      return redis
    } catch (error) {
      const portTaken = options.port === 'any' && redis.log().includes('Address already in use')
      await redis.stop()
      if (!portTaken || attempt === 5) throw error
    }
  }
}

const startWithinMs = 30_000

function prepare(binary: string, options: RedisOptions, port: number | undefined): TemporaryRedis {
  const guarded = guard()
  const { directory } = guarded
  const socket = join(directory, 'redis.sock')
  const configFile = join(directory, 'redis.conf')
  const logFile = join(directory, 'redis.log')
  const raw = rawConnection({ path: socket }, options.config?.['requirepass'])
  let server: ChildProcess | undefined
  let lastLog: string | undefined
  let stopping: Promise<void> | undefined

  const config = {
    port: `${port ?? 0}`,
    bind: '127.0.0.1',
    unixsocket: `"${socket}"`, // whole, because ps shows it
    save: '',
    ...options.config,
  }
  const lines = Object.entries(config).map(([name, value]) => `${name} ${value === '' ? '""' : value}\n`)
  writeFileSync(configFile, lines.join(''))
  writeFileSync(logFile, '')

  async function launch(): Promise<void> {
    const output = openSync(logFile, 'a')
    // The shell waits until the guard knows its pid, then becomes the server: there is no moment at which this process
    // could be killed and leave a server that nobody watches.
    const words = [binary, configFile, ...(options.arguments ?? [])]
    const child = spawn('/bin/sh', ['-c', 'read -r go && exec "$@" </dev/null', 'sh', ...words], {
      cwd: directory,
      detached: true, // leads a process group, so that a child that saves is ended with it
      stdio: ['pipe', output, output],
    })
    closeSync(output)
    child.unref()
    child.once('error', gone)
    child.once('exit', gone)
    function gone(): void {
      if (server === child) server = undefined
      guarded.watch(server?.pid)
    }
    server = child
    guarded.watch(child.pid)
    child.stdin?.on('error', () => {}) // killed before it could read: the exit is what counts
    child.stdin?.end('go\n')
    await answers(child)
  }

  /** Waits until the server answers a PING, trying again as soon as it has not. */
  async function answers(child: ChildProcess): Promise<void> {
    const deadline = performance.now() + startWithinMs
    const runs = () => server === child
    while (runs() && performance.now() < deadline) {
      const refusal = await raw.command('PING').then(
        () => undefined,
        (error: NodeJS.ErrnoException) => error,
      )
      // An error in Redis's own words (NOAUTH, MASTERDOWN …) is an answer, unless it is still reading its data.
      if (refusal === undefined) return
      if (refusal.code === undefined && /^(?!LOADING)[A-Z]+ /.test(refusal.message)) return
      await sleep(1)
    }
    const how = runs() ? `did not answer within ${startWithinMs / 1000} s` : `ended with ${ending(child)}`
    const tail = readLog().trimEnd().split('\n').slice(-8).join('\n')
    throw new TestServerError(`${binary} ${how} when it was started. The end of its log:\n${tail}`)
  }

  function readLog(): string {
    return existsSync(logFile) ? readFileSync(logFile, 'utf8') : ''
  }

  function signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    if (server?.pid === undefined) throw new TestServerError('This Redis does not run: restart() it first.')
    process.kill(server.pid, name)
  }

  async function kill(): Promise<void> {
    const child = server
    if (child?.pid === undefined) return
    const ended = once(child, 'exit')
    child.ref()
    process.kill(-child.pid, 'SIGKILL')
    await ended
  }

  async function stop(): Promise<void> {
    lastLog = readLog()
    await kill()
    raw.close()
    await guarded.release()
  }

  return {
    socket,
    port,
    url: port === undefined ? `unix://${socket}` : `redis://127.0.0.1:${port}`,
    directory,
    get pid() {
      return server?.pid
    },
    command: raw.command,
    commandBuffer: raw.commandBuffer,
    log: () => lastLog ?? readLog(),
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    kill,
    async restart() {
      if (stopping !== undefined)
        throw new TestServerError('This Redis was stopped and its directory removed: start another.')
      await kill()
      await launch()
    },
    stop: () => (stopping ??= stop()),
    [Symbol.asyncDispose]() {
      return this.stop()
    },
  }
}

function findServer(): string {
  for (const name of ['redis-server', 'valkey-server']) {
    for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
      const path = join(directory, name)
      try {
        accessSync(path, constants.X_OK)
        return path
      } catch {
        continue
      }
    }
  }
  throw new TestServerError(
    'Neither redis-server nor valkey-server is on the PATH: install one ' +
      '(apt install redis-server, brew install redis, dnf install valkey, apk add redis).',
  )
}

function ending(child: ChildProcess): string {
  return child.signalCode ?? `exit code ${child.exitCode}`
}
