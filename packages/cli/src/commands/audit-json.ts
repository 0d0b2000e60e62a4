import { remedyJson } from './remedy-json.ts'
import { snapshotSchema } from './snapshot.ts'

const text = { type: 'string' } as const
const number = { type: 'integer', minimum: 0 } as const

/** JSON Schema of a line of `keyspec audit --json`: the findings, and last what was looked at. */
export const auditJson = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  oneOf: [
    {
      title: 'finding',
      type: 'object',
      properties: {
        record: { const: 'finding' },
        code: {
          enum: [
            'unknown-key',
            'wrong-type',
            'no-ttl',
            'ttl-too-long',
            'expires',
            'undecodable',
            'legacy-name',
            'two-names',
            'over-budget',
            'evictable',
            'external-shape',
            'inconsistent',
          ],
        },
        severity: { enum: ['error', 'warning'] },
        entry: { ...text, description: 'absent where no entry owns the keys' },
        pattern: { ...text, description: 'guessed, where no entry owns the keys' },
        detail: { ...text, description: 'the type found, the field that cannot be read, the policy' },
        count: { ...number, minimum: 1, description: 'how many keys' },
        accepted: { ...number, description: 'how many of them the baseline accepts' },
        samples: { type: 'array', items: text, minItems: 1, maxItems: 3 },
        message: text,
        remedy: remedyJson,
        fix: { ...text, description: 'the same in one line' },
      },
      required: ['record', 'code', 'severity', 'count', 'samples', 'message'],
      additionalProperties: false,
    },
    {
      title: 'summary',
      type: 'object',
      properties: {
        record: { const: 'summary' },
        keys: { ...number, description: 'how many keys were looked at' },
        sampled: { type: 'boolean', description: 'whether they are a sample' },
        decoded: { ...number, description: 'how many values were decoded, or the beginnings of them' },
        notDecoded: { ...number, description: 'how many values were too large, or an element of them' },
        evictionPolicy: { ...text, description: 'absent where the server does not say' },
        accepted: { ...number, description: 'how many findings the baseline accepts whole' },
        snapshot: snapshotSchema,
      },
      required: ['record', 'keys', 'sampled', 'decoded', 'notDecoded', 'accepted'],
      additionalProperties: false,
    },
  ],
} as const
