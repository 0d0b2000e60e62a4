import colors from 'picocolors'
import type { Writable } from '../run.ts'

/** Colours, or none of them. */
export type Paint = ReturnType<typeof colors.createColors>

/** Colours for a stream: none where it is no terminal or NO_COLOR is set (https://no-color.org). */
export function paint(stream: Writable, env: Readonly<Record<string, string | undefined>>): Paint {
  return colors.createColors(
    stream.isTTY === true && env['TERM'] !== 'dumb' && (env['NO_COLOR'] ?? '') === '',
  )
}
