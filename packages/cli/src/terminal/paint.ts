import { inspect } from 'node:util'
import type { Writable } from '../host.ts'

const COLOURS = ['bold', 'dim', 'red', 'green', 'yellow'] as const

/** Colours, or none of them. */
export type Paint = Readonly<Record<(typeof COLOURS)[number], (text: string) => string>>

/** Colours for a stream: none where it is no terminal or NO_COLOR is set (https://no-color.org). */
export function paint(stream: Writable, env: Readonly<Record<string, string | undefined>>): Paint {
  return coloured(stream.isTTY === true && env['TERM'] !== 'dumb' && (env['NO_COLOR'] ?? '') === '')
}

/** Colours as Node's own `util.inspect` has them, which every command starts sooner with than with a library. */
export function coloured(isOn: boolean): Paint {
  const painters = COLOURS.map((name) => {
    const [begin, end] = inspect.colors[name]!
    return [name, (text: string) => (isOn ? `\u001B[${begin}m${text}\u001B[${end}m` : text)]
  })
  return Object.fromEntries(painters) as Paint
}
