import { type Connection, describeLifetime, type Schema } from 'keyspec'
import { usage } from 'keyspec/inspect'

/** Rows as lines: a first row of heads, columns of numbers to the right. */
export function table(rows: readonly (readonly (string | number)[])[]): string[] {
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : cell)),
  )
  const widths = cells[0]!.map((_, at) => Math.max(...cells.map((row) => row[at]!.length)))
  const isNumber = rows[0]!.map((_, at) => rows.slice(1).every((row) => typeof row[at] === 'number'))
  const lines = cells.map((row) =>
    row
      .map((cell, at) => (isNumber[at] ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!)))
      .join('  ')
      .trimEnd(),
  )
  return [lines[0]!, widths.map((width) => '─'.repeat(width)).join('  '), ...lines.slice(1)]
}

/** The keyspace as it is in Redis: entry, pattern, type, lifetime, keys, memory. */
export async function keyspaceTable(schema: Schema, connection: Connection): Promise<string[]> {
  const rows: (string | number)[][] = []
  for await (const { owned, keys, bytes } of usage(schema, connection)) {
    if (owned === undefined) {
      if (keys > 0) rows.push(['(unknown)', '', '', '', keys, bytes])
      continue
    }
    const { entry, pattern, spec } = owned
    // Locks are there while something is loaded.
    if (keys > 0 || !pattern.text.startsWith('lock:')) {
      rows.push([entry, pattern.text, spec.type, describeLifetime(spec.lifetime), keys, bytes])
    }
  }
  return table([['entry', 'pattern', 'type', 'lifetime', 'keys', 'bytes'], ...rows])
}
