import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { run } from '../packages/cli/src/run.ts'

/** What a run of `keyspec` came to. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
  /** What `out` is the text of. */
  readonly bytes: Buffer
  /** The lines of standard output, each parsed as JSON. */
  json(): any[]
}

/** How a run of `keyspec` differs from the plain one. */
export interface RunOptions {
  /** Where it is run: among the fixtures of the command line unless told. */
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** Stands for a terminal, at which this is typed when the command asks; a function is called when it does. */
  readonly answer?: string | (() => Promise<string>)
}

/** The folder of the command line's own configuration and schema. */
export const fixture = join(import.meta.dirname, '../packages/cli/fixture')

/** Runs `keyspec` in this process: `await keyspec(['audit', '--json'], { env: { REDIS_URL: redis.url } })`. */
export async function keyspec(words: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const stdin = Object.assign(new PassThrough(), { isTTY: options.answer !== undefined })
  const stdout = gathered(false)
  const stderr = gathered(options.answer !== undefined)
  const { answer } = options
  if (typeof answer === 'string') stdin.write(`${answer}\n`)
  else if (answer !== undefined) {
    const typed = (chunk: Buffer) => {
      if (!String(chunk).includes('to go on: ')) return
      stderr.stream.off('data', typed)
      void answer().then((word) => stdin.write(`${word}\n`))
    }
    stderr.stream.on('data', typed)
  }
  const code = await run(words, {
    cwd: options.cwd ?? fixture,
    env: { NO_COLOR: '1', ...options.env },
    stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
    signal: options.signal ?? new AbortController().signal,
  })
  const out = stdout.text()
  const json = () =>
    out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  return { code, out, err: stderr.text(), bytes: stdout.bytes(), json }
}

function gathered(isTTY: boolean) {
  const chunks: Buffer[] = []
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 100 })
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  const bytes = () => Buffer.concat(chunks)
  return { stream, bytes, text: () => bytes().toString() }
}
