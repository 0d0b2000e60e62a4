import type { Command, Option, Options } from './command.ts'
import type { Listed } from './command-list.ts'
import { general } from './options.ts'

/** What `keyspec --help` shows. */
export function overview(commands: { readonly [name: string]: Listed }): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length))
  const lines = ['Every key in your Redis, declared once: check, audit, explain, change and move them.', '']
  lines.push('usage: keyspec COMMAND [options]')
  for (const group of new Set(Object.values(commands).map((listed) => listed.group))) {
    lines.push('', group)
    for (const [name, listed] of Object.entries(commands)) {
      if (listed.group === group) lines.push(`  ${name.padEnd(width)}  ${listed.about}`)
    }
  }
  lines.push(
    '',
    'keyspec COMMAND --help shows its options and examples.',
    'Exit codes: 0 all is well, 1 something was found, 2 called wrongly, 3 no connection.',
  )
  return lines.join('\n')
}

/** What `keyspec COMMAND --help` shows. */
export function helpOf(name: string, about: string, { operands, options, examples }: Command): string {
  const usage = ['keyspec', name, ...(operands === undefined ? [] : [operands]), '[options]'].join(' ')
  const all: Options = { ...options, ...general }
  const heads = Object.entries(all).map(([option, spec]) => [headOf(option, spec), spec.about] as const)
  const width = Math.max(...heads.map(([head]) => head.length))
  const lineWidth = Math.max(...examples.map(([line]) => line.length), 0)
  return [
    about,
    '',
    `usage: ${usage}`,
    '',
    'Options',
    ...heads.map(([head, said]) => `  ${head.padEnd(width)}  ${said}`),
    '',
    'Examples',
    ...examples.map(([line, said]) => `  ${line.padEnd(lineWidth)}  ${said}`),
  ].join('\n')
}

function headOf(name: string, { short, value, many }: Option): string {
  const letter = short === undefined ? '    ' : `-${short}, `
  return `${letter}--${name}${value === undefined ? '' : ` ${value}`}${many === true ? ' …' : ''}`
}
