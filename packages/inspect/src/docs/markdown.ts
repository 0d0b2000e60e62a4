/** A heading; Markdown has six levels. */
export function heading(level: number, text: string): string {
  return `${'#'.repeat(Math.min(level, 6))} ${text}`
}

/** Text as code, whatever it holds, in one line and one cell of a table. */
export function code(text: string): string {
  const readable = text.replaceAll(
    /\p{Cc}/gu,
    (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
  const fence = '`'.repeat(1 + Math.max(0, ...Array.from(readable.matchAll(/`+/g), ([run]) => run.length)))
  const space = /^`|`$/.test(readable) ? ' ' : ''
  return `${fence}${space}${readable.replaceAll('|', '\\|')}${space}${fence}`
}

/** Text in one cell of a table. */
export function cell(text: string): string {
  // Outside of code, a placeholder would be taken for a tag of HTML.
  const pieces = text.replaceAll(/\s+/g, ' ').split(/(`[^`]*`)/)
  return pieces
    .map((piece, index) => (index % 2 === 1 ? piece : piece.replaceAll('<', '&lt;')))
    .join('')
    .replaceAll('|', '\\|')
}

/** A table; its cells are Markdown. */
export function rows(heads: readonly string[], cells: readonly (readonly string[])[]): string {
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |`
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...cells.map(line)].join('\n')
}
