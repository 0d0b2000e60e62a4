import { count as amount, fewKeys as samples, object } from './record-schema.ts'

const instant = { type: 'integer', description: 'in ms since the epoch' } as const
const sums = <const P extends object>(of: P) =>
  ({ type: 'array', items: object({ ...of, keys: amount, bytes: amount }) }) as const

/** What a line of `keyspec import --json` is. */
export const importSchema = {
  oneOf: [
    {
      description: 'with --inspect: what a whole file holds',
      ...object(
        {
          record: { const: 'contents' },
          createdAtMs: instant,
          keyspec: { type: 'string', description: 'the version that wrote it' },
          server: { type: 'string' },
          dumpVersion: {
            ...amount,
            description: 'the version of the values: what an older server cannot read',
          },
          title: { type: 'string', description: 'what was chosen, in words' },
          prefix: { type: 'string' },
          schema: { type: 'string', description: 'a digest of the schema it was exported by' },
          fileBytes: amount,
          keys: amount,
          bytes: amount,
          forever: { ...amount, description: 'keys that never expire' },
          expired: { ...amount, description: 'keys that have expired since' },
          firstExpiryAtMs: instant,
          lastExpiryAtMs: instant,
          largest: object({ key: { type: 'string' }, bytes: amount }),
          types: sums({ type: { type: 'string' } }),
          entries: sums({
            entry: { type: ['string', 'null'], description: 'null: no entry owned these keys' },
          }),
        },
        ['dumpVersion', 'firstExpiryAtMs', 'lastExpiryAtMs', 'largest'],
      ),
    },
    {
      description: 'what the import would do',
      ...object({
        record: { const: 'preview' },
        keys: amount,
        fresh: { ...amount, description: 'keys that are not there' },
        existing: { ...amount, description: 'keys that are there already' },
        expired: { ...amount, description: 'keys that have expired since, and are left out' },
        samples: { ...samples, description: 'some of those that are there' },
      }),
    },
    {
      description: 'the last line: what it did',
      ...object({
        record: { const: 'imported' },
        keys: { ...amount, description: 'keys of the file that had their turn' },
        restored: amount,
        kept: { ...amount, description: 'keys that were there, and were left as they were' },
        expired: amount,
        samples: { ...samples, description: 'some of those that were kept' },
      }),
    },
  ],
} as const
