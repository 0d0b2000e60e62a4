import { type Connection, describeLifetime, type Schema } from 'keyspec'
import { usage } from 'keyspec/inspect'

/** The keyspace as it is in Redis: entry, pattern, type, lifetime, keys, memory. */
export async function keyspaceTable(
  schema: Schema,
  connection: Connection,
  prefix: string,
): Promise<string[]> {
  const rows: string[][] = []
  let keys = 0
  let bytes = 0
  for await (const row of usage(schema, connection, { prefix })) {
    keys += row.keys
    bytes += row.bytes
    const counted = [row.keys.toLocaleString('en'), row.bytes.toLocaleString('en')]
    if (row.owned === undefined) {
      if (row.keys > 0) rows.push(['(unknown)', '', '', '', ...counted])
      continue
    }
    const { entry, pattern, spec } = row.owned
    const [lifetime] = describeLifetime(spec.lifetime).split(':')
    rows.push([entry, pattern.text, spec.type, lifetime!, ...counted])
  }
  rows.push(['total', '', '', '', keys.toLocaleString('en'), bytes.toLocaleString('en')])
  return table(['entry', 'pattern', 'type', 'lifetime', 'keys', 'bytes'], rows)
}

/** Rows as a table: the columns in which every cell is a number stand to the right. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = heads.map((head, at) => Math.max(head.length, ...rows.map((row) => row[at]!.length)))
  const isNumber = heads.map((_, at) => rows.every((row) => /^[-\d,.]+$/.test(row[at]!)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => (isNumber[at] ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!)))
      .join('  ')
      .trimEnd()
  return [line(heads), widths.map((width) => '─'.repeat(width)).join('  '), ...rows.map(line)]
}
