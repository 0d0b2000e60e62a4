const place = {
  entry: { type: 'string', description: 'its path; empty where it concerns all of the schema' },
  pattern: { type: 'string' },
  message: { type: 'string' },
  advice: { type: 'string' },
}

/** JSON Schema of a line of `keyspec check --json`: a flaw of the schema, or a change since a manifest. */
export const checkLine = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  oneOf: [
    {
      type: 'object',
      properties: {
        kind: { const: 'flaw' },
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
        before: { type: 'string', description: 'the pattern that it had' },
        oldKeysGoneAfterMs: {
          description: 'how long keys of before live after the last program that writes them has ended',
          oneOf: [{ type: 'integer' }, { const: 'never' }],
        },
      },
      required: ['kind', 'severity', 'code', 'impact', 'entry', 'pattern', 'message'],
      additionalProperties: false,
    },
  ],
}
