import { count as amount, fewKeys as samples, object } from './record-schema.ts'

/** What a line of `keyspec copy --json` is. */
export const copySchema = {
  oneOf: [
    {
      description: 'what the copy would do',
      ...object({
        record: { const: 'preview' },
        title: { type: 'string', description: 'what was chosen, in words' },
        keys: amount,
        fresh: { ...amount, description: 'keys that are not on the other server' },
        existing: { ...amount, description: 'keys that are there already' },
        samples: { ...samples, description: 'some of those that are there' },
      }),
    },
    {
      description: 'the last line: what it did',
      ...object({
        record: { const: 'copied' },
        keys: { ...amount, description: 'keys that had their turn' },
        copied: amount,
        kept: { ...amount, description: 'keys that were there, and were left as they were' },
        expired: { ...amount, description: 'keys that had expired by the clock of the other server' },
        gone: { ...amount, description: 'keys that were found and had vanished when their turn came' },
        bytes: { ...amount, description: 'of the copied keys and their dumped values' },
        samples: { ...samples, description: 'some of those that were kept' },
      }),
    },
  ],
} as const
