import type { Given, Options } from '../command.ts'
import { optionWords, shellWord } from './shell.ts'

/** The command line that does the same again, quoted for a shell: `keyspec erase --under 'a b' --yes`. */
export function commandLine(name: string, operands: readonly string[], options: Given<Options>): string {
  const words = Object.entries(options).flatMap(([option, value]) => {
    // A URL may hold a password.
    if (value === undefined || option === 'url') return []
    if (typeof value === 'boolean') return value ? [`--${option}`] : []
    const values = typeof value === 'object' ? value : [String(value)]
    return values.flatMap((each) => optionWords(option, each))
  })
  return ['keyspec', name, ...operands, ...words].map(shellWord).join(' ')
}
