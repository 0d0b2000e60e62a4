/** Rows as a table: the columns in which every cell is a number, perhaps with a unit, stand to the right. */
export function table(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : cell)),
  )
  const widths = heads.map((head, at) => Math.max(head.length, ...cells.map((row) => row[at]!.length)))
  const isNumber = heads.map(
    (_, at) => cells.length > 0 && cells.every((row) => /^[-\d,.]*( \w+)?$/.test(row[at]!)),
  )
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => (isNumber[at] ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!)))
      .join('  ')
      .trimEnd()
  return [line(heads), widths.map((width) => '─'.repeat(width)).join('  '), ...cells.map(line)]
}
