import { type Connection, describeLifetime, type Schema } from 'keyspec'
import { usage } from '@keyspec/inspect'
import { table } from './table.ts'

/**
 * The keyspace as it is in Redis below a prefix: entry, pattern, type, lifetime, keys, memory. Old names, other programs'
 * keys and locks stand there only where there are some.
 */
export async function keyspaceTable(schema: Schema, connection: Connection, prefix = ''): Promise<string[]> {
  const rows: (string | number)[][] = []
  let [allKeys, allBytes] = [0, 0]
  for (const { owned, keys, bytes } of await usage(schema, connection, { prefix })) {
    allKeys += keys
    allBytes += bytes
    if (owned === undefined) {
      if (keys > 0) rows.push(['(unknown)', '', '', '', keys, bytes])
      continue
    }
    const { entry, pattern, spec, legacy } = owned
    const { external } = spec
    const isPassing = legacy || external !== undefined || /(?:^|:)lock:/.test(pattern.text)
    if (keys === 0 && isPassing) continue
    // What follows the colon is why something lives forever.
    const [words] = describeLifetime(spec.lifetime).split(':')
    const lifetime = external === undefined ? words! : `${external.by}’s`
    rows.push([entry, pattern.text, spec.type, legacy ? `${lifetime}, old name` : lifetime, keys, bytes])
  }
  rows.push(['total', '', '', '', allKeys, allBytes])
  return table(['entry', 'pattern', 'type', 'lifetime', 'keys', 'bytes'], rows)
}
