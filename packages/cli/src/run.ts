import type { Host } from './host.ts'
import { parse } from './arguments.ts'
import type { Call } from './command.ts'
import { commands } from './command-list.ts'
import { exit, type ExitCode, Failure, misused, reason } from './failure.ts'
import { helpOf, overview } from './help.ts'

/** Runs one command line to its end and answers its exit code; what goes wrong is said in one line. */
export async function run(words: readonly string[], host: Host): Promise<ExitCode> {
  try {
    return await dispatch(words, host)
  } catch (error) {
    const failure = error instanceof Failure ? error : failureOf(error, host.signal)
    host.stderr.write(`keyspec: ${failure.message}\n`)
    return failure.exitCode
  }
}

async function dispatch([name, ...words]: readonly string[], host: Host): Promise<ExitCode> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    host.stdout.write(`${overview(commands)}\n`)
    return name === undefined ? exit.usage : exit.fine
  }
  if (name === '--version') {
    const { version } = await import('./version.ts')
    host.stdout.write(`${version()}\n`)
    return exit.fine
  }
  const listed = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (listed === undefined)
    throw misused(`there is no command "${name}": there are ${Object.keys(commands).join(', ')}`)
  const found = await listed.load()
  if (words.includes('--help') || words.includes('-h')) {
    host.stdout.write(`${helpOf(name, listed.about, found)}\n`)
    return exit.fine
  }
  const { options, operands } = parse(name, found, words)
  if (options['json-schema'] === true) {
    host.stdout.write(`${JSON.stringify(found.json.schema, undefined, 2)}\n`)
    return exit.fine
  }
  const { openCall } = await import('./call.ts')
  const { call, close } = openCall(options, operands, host)
  try {
    return await found.run(call as Call<any>)
  } finally {
    await close()
  }
}

function failureOf(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted) return new Failure('stopped', exit.interrupted, error)
  const code = (error as { readonly code?: unknown } | null)?.code
  const isOurs = typeof code === 'string' && code.startsWith('E_')
  if (code === 'E_SCHEMA' || code === 'E_KEY') return new Failure(reason(error), exit.usage, error)
  if (isOurs) return new Failure(reason(error), NO_SERVER.has(code) ? exit.connection : exit.findings, error)
  // What is neither Keyspec's nor a mistake in the program is the client's: the connection is gone.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) throw error
  return new Failure(`the connection was lost: ${reason(error)}`, exit.connection, error)
}

/** The server is there and lets us in no further, or not now, or the connection is gone. */
const NO_SERVER = new Set([
  'E_DENIED',
  'E_NOT_READY',
  'E_WRONG_NODE',
  'E_UNAVAILABLE',
  'E_NOT_SENT',
  'E_UNKNOWN_OUTCOME',
])
