import { parseArgs, type ParseArgsConfig } from 'node:util'

/** The options of a command line, as `parseArgs` wants them. */
type Options = NonNullable<ParseArgsConfig['options']>

type Parsed<O extends Options> = ReturnType<typeof parseArgs<{ options: O; allowPositionals: true }>>

/** What a program was told on its command line. */
export interface CommandLine<O extends Options> {
  readonly values: Parsed<O>['values']
  readonly positionals: readonly string[]
  /** The whole number of an option, from `least`; `otherwise` where the option is not there. */
  count<D extends number | undefined>(name: keyof O & string, least: number, otherwise: D): number | D
}

/**
 * Reads the command line, before anything is started. `--help` prints the usage and ends the process; what makes no sense
 * ends it with one line on stderr and exit code 2.
 */
export function commandLine<const O extends Options>(
  usage: string,
  options: O,
  { takesFiles = false }: { readonly takesFiles?: boolean } = {},
): CommandLine<O> {
  const { values, positionals } = parsed({
    args: process.argv.slice(2),
    options: { ...options, help: { type: 'boolean' } },
    allowPositionals: takesFiles,
  })
  if (values['help'] === true) {
    console.log(usage)
    process.exit()
  }
  return {
    values: values as Parsed<O>['values'],
    positionals,
    count(name, least, otherwise) {
      const text = values[name]
      if (text === undefined) return otherwise
      const isCount = typeof text === 'string' && /^\d{1,15}$/.test(text) && Number(text) >= least
      if (!isCount) misuse(`--${name} is "${String(text)}"; it must be a whole number from ${least}`)
      return Number(text)
    },
  }
}

/** Ends the process with one line on stderr and exit code 2. */
export function misuse(words: string): never {
  console.error(words)
  process.exit(2)
}

function parsed(config: ParseArgsConfig) {
  try {
    return parseArgs(config)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')))
      throw error
    // Node's first sentence says what is wrong; the others how to write a word that begins with a dash.
    const [words] = error.message.split(/\.?\n|\. /)
    return misuse(`${words}; --help says what there is`)
  }
}
