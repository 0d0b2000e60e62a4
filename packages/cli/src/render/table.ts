import { stripVTControlCharacters } from 'node:util'
import type { Paint } from '../terminal/paint.ts'

/** A column of a table. */
export interface Column {
  readonly head: string
  /** Numbers stand to the right. */
  readonly right?: boolean
}

/** Rows as a table of aligned columns. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  paint: Paint,
): string {
  const widths = columns.map(({ head }, at) => Math.max(width(head), ...rows.map((row) => width(row[at]!))))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => {
        const gap = ' '.repeat(widths[at]! - width(cell))
        return columns[at]!.right === true ? gap + cell : cell + gap
      })
      .join('  ')
      .trimEnd()
  return [paint.bold(line(columns.map(({ head }) => head))), ...rows.map(line)].join('\n')
}

/** How many columns a text takes: escape sequences take none. */
function width(text: string): number {
  return Array.from(stripVTControlCharacters(text)).length
}
