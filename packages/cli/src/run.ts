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
    const { message, exitCode } = error instanceof Failure ? error : endOf(error, host.signal)
    host.stderr.write(`keyspec: ${message}\n`)
    return exitCode
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

/** How the command ends for what others threw: the library, the tools, a client, or a program's own connection. */
function endOf(error: unknown, signal: AbortSignal): Pick<Failure, 'message' | 'exitCode'> {
  if (signal.aborted) return { message: 'stopped', exitCode: exit.interrupted }
  const code = (error as { readonly code?: unknown } | null)?.code
  if (typeof code === 'string' && code.startsWith('E_'))
    return { message: reason(error), exitCode: EXIT_OF[code] ?? exit.findings }
  // What is neither Keyspec's nor a mistake in the program is the client's: the connection is gone.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) throw error
  return { message: `the connection was lost: ${reason(error)}`, exitCode: exit.connection }
}

/** The exit codes of errors by their code, those that end with 1 left out. */
const EXIT_OF: Readonly<Record<string, ExitCode>> = {
  E_SCHEMA: exit.usage,
  E_KEY: exit.usage,
  E_ARGUMENT: exit.usage,
  // The server is there and lets us in no further, or not now, or the connection is gone.
  E_DENIED: exit.connection,
  E_NOT_READY: exit.connection,
  E_WRONG_NODE: exit.connection,
  E_UNAVAILABLE: exit.connection,
  E_NOT_SENT: exit.connection,
  E_UNKNOWN_OUTCOME: exit.connection,
  // Of a file it is a FileError.
  E_SNAPSHOT: exit.connection,
}
