import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { Command, Given, Options } from './command.ts'
import { misused } from './failure.ts'
import { general } from './options.ts'

/** What a command line says, once its words have been sorted. */
export interface Parsed {
  readonly options: Given<Options & typeof general>
  readonly operands: readonly string[]
}

/** Sorts the words behind a verb into its options and operands; a word that it does not know is a misuse. */
export function parse(name: string, { options, operands }: Command, words: readonly string[]): Parsed {
  const known: Options = { ...options, ...general }
  const config: NonNullable<ParseArgsConfig['options']> = {}
  for (const [option, { value, many = false, short }] of Object.entries(known)) {
    config[option] = {
      type: value === undefined ? 'boolean' : 'string',
      multiple: many,
      ...(short === undefined ? {} : { short }),
    }
  }
  let parsed
  try {
    parsed = parseArgs({ args: [...words], options: config, allowPositionals: true, strict: true })
  } catch (error) {
    const [said] = (error as Error).message.split('. ')
    throw misused(`${said}; keyspec ${name} --help shows what there is`)
  }
  const most = operands === undefined ? 0 : operands.split(' ').length
  if (parsed.positionals.length > most) {
    const extra = parsed.positionals[most]!
    throw misused(`keyspec ${name} does not take ${JSON.stringify(extra)}; see keyspec ${name} --help`)
  }
  const values: Record<string, unknown> = { ...parsed.values }
  for (const [option, { number = false, most }] of Object.entries(known)) {
    const text = values[option]
    if (!number || text === undefined) continue
    const value = Number(text)
    if (text === '' || !Number.isFinite(value))
      throw misused(`--${option} takes a number, not ${JSON.stringify(text)}`)
    if (most !== undefined && !(value > 0 && value <= most))
      throw misused(`--${option} is above 0${most === Infinity ? '' : ` and at most ${most}`}, not ${value}`)
    values[option] = value
  }
  return { options: values as Parsed['options'], operands: parsed.positionals }
}
