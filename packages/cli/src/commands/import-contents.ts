import { type ArchiveContents, escapeKey } from '@keyspec/inspect'
import { table } from '../render/table.ts'
import { bytes, count, counted } from '../render/units.ts'
import type { Paint } from '../terminal/paint.ts'

/** What a file holds, for `--json`. */
export function contentsRecord(contents: ArchiveContents) {
  const { header, types, entries, expiry, largest } = contents
  const { createdAtMs, keyspec, server, dumpVersion, title, prefix, schema } = header
  return {
    record: 'contents' as const,
    createdAtMs,
    keyspec,
    server,
    dumpVersion,
    title,
    prefix,
    schema,
    fileBytes: contents.fileBytes,
    keys: contents.records,
    bytes: contents.bytes,
    forever: contents.forever,
    expired: contents.expired,
    firstExpiryAtMs: expiry?.first,
    lastExpiryAtMs: expiry?.last,
    largest: largest === undefined ? undefined : { key: escapeKey(largest.key), bytes: largest.bytes },
    types,
    entries: entries.map(({ entry = null, ...sum }) => ({ entry, ...sum })),
  }
}

/** What a file holds, for people. */
export function contentsText(contents: ArchiveContents, paint: Paint): string {
  const { header, types, entries, expiry, largest } = contents
  const at = (ms: number) => new Date(ms).toISOString()
  const columns = (head: string) => [{ head }, { head: 'keys', right: true }, { head: 'values', right: true }]
  const rows = <S extends { keys: number; bytes: number }>(sums: readonly S[], name: (sum: S) => string) =>
    sums.toSorted((a, b) => b.bytes - a.bytes).map((sum) => [name(sum), count(sum.keys), bytes(sum.bytes)])
  const version = header.dumpVersion === undefined ? '' : `, values of version ${header.dumpVersion}`
  return [
    `whole: ${counted(contents.records, 'key')}, ${bytes(contents.bytes)} in ${bytes(contents.fileBytes)}`,
    `exported ${at(header.createdAtMs)} by keyspec ${header.keyspec} from ${header.server}${version}`,
    `chosen: ${header.title}`,
    expiry === undefined
      ? 'no key expires'
      : `${count(contents.forever)} never expire, ${count(contents.expired)} expired since; ` +
        `the others between ${at(expiry.first)} and ${at(expiry.last)}`,
    ...(largest === undefined ? [] : [`largest: ${escapeKey(largest.key)}, ${bytes(largest.bytes)}`]),
    ...(contents.records === 0
      ? []
      : [
          '',
          table(
            columns('entry'),
            rows(entries, ({ entry }) => entry ?? '(no entry)'),
            paint,
          ),
          '',
          table(
            columns('type'),
            rows(types, ({ type }) => type),
            paint,
          ),
        ]),
  ].join('\n')
}
