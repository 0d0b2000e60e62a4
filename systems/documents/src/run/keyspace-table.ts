import { type Connection, describeLifetime, type Schema } from 'keyspec'
import { usage } from 'keyspec/inspect'
import { table } from './screen.ts'

/** The keyspace as it is in Redis: entry, pattern, type, lifetime, keys, memory. Old names and foreign keys only where there are some. */
export async function keyspaceTable(schema: Schema, connection: Connection): Promise<string[]> {
  const rows: string[][] = []
  let keys = 0
  let bytes = 0
  for await (const row of usage(schema, connection)) {
    keys += row.keys
    bytes += row.bytes
    const counted = [row.keys.toLocaleString('en'), row.bytes.toLocaleString('en')]
    if (row.owned === undefined) {
      if (row.keys > 0) rows.push(['(unknown)', '', '', '', ...counted])
      continue
    }
    const { entry, pattern, spec, legacy } = row.owned
    const { foreign } = spec
    if (row.keys === 0 && (legacy || foreign !== undefined)) continue
    const lifetime = foreign === undefined ? describeLifetime(spec.lifetime) : `${foreign.by}’s`
    rows.push([entry, pattern.text, spec.type, legacy ? `${lifetime}, old name` : lifetime, ...counted])
  }
  rows.push(['total', '', '', '', keys.toLocaleString('en'), bytes.toLocaleString('en')])
  return table(['entry', 'pattern', 'type', 'lifetime', 'keys', 'bytes'], rows)
}
