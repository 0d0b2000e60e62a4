import { remedyJson } from './remedy-json.ts'

const place = {
  entry: { type: 'string', description: 'its path; empty where it concerns all of the schema' },
  pattern: { type: 'string' },
  message: { type: 'string' },
  advice: { type: 'string' },
} as const

/** JSON Schema of a line of `keyspec check --json`: an issue of the schema, or a change since a manifest. */
export const checkLine = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  oneOf: [
    {
      type: 'object',
      properties: {
        kind: { const: 'issue' },
        severity: { enum: ['error', 'warning'] },
        code: { enum: ['declaration', 'prefix', 'overlap', 'slots', 'look-alike', 'no-about'] },
        ...place,
        other: { type: 'string', description: 'the other entry' },
        example: { type: 'string', description: 'a key that shows it' },
        place: { type: 'string', description: 'the file and line of the declaration' },
      },
      required: ['kind', 'severity', 'code', 'entry', 'pattern', 'message', 'advice'],
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: {
        kind: { const: 'change' },
        severity: { enum: ['error', 'info'] },
        code: { type: 'string' },
        impact: { enum: ['safe', 'version', 'migration', 'breaks'] },
        ...place,
        remedy: remedyJson,
        before: { type: 'string', description: 'the pattern that it had' },
        phases: {
          type: 'array',
          description: 'of a rename: its phases before and now',
          items: { enum: [1, 2, 3] },
          minItems: 2,
          maxItems: 2,
        },
        oldKeysGoneAfterMs: {
          description: 'how long keys of before live after the last program that writes them has ended',
          oneOf: [{ type: 'integer' }, { const: 'never' }],
        },
      },
      required: ['kind', 'severity', 'code', 'impact', 'entry', 'pattern', 'message'],
      additionalProperties: false,
    },
  ],
} as const
