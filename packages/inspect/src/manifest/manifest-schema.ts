const texts = { type: 'array', items: { type: 'string' } } as const

const value = {
  type: 'object',
  properties: {
    codec: { type: 'string' },
    jsonSchema: { type: 'object', description: 'JSON Schema, 2020-12, of what may be written' },
    note: { type: 'string', description: 'why there is no JSON Schema of what is validated' },
  },
  required: ['codec'],
  additionalProperties: false,
} as const

const lifetime = {
  oneOf: [
    {
      type: 'object',
      properties: {
        ttlMs: { type: 'integer', minimum: 1 },
        renew: { enum: ['creation', 'write', 'read'], description: 'when the time starts anew' },
        jitter: { type: 'number', minimum: 0, exclusiveMaximum: 1 },
      },
      required: ['ttlMs', 'renew', 'jitter'],
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: { ttlMs: { const: 'forever' }, reason: { type: 'string' } },
      required: ['ttlMs', 'reason'],
      additionalProperties: false,
    },
  ],
} as const

const key = {
  type: 'object',
  properties: {
    pattern: { type: 'string', description: 'without the prefix of the keyspace' },
    example: { type: 'string', description: 'a key of this pattern, the prefix before it' },
    renamedFrom: { ...texts, description: 'old patterns' },
    phase: { enum: [1, 2, 3], description: 'how far the rename from the old patterns has come' },
    type: { enum: ['string', 'hash', 'list', 'set', 'zset', 'stream', 'various'] },
    about: { type: 'string' },
    external: {
      type: 'object',
      properties: { by: { type: 'string', description: 'the program that writes these keys' } },
      required: ['by'],
      additionalProperties: false,
    },
    value: { $ref: '#/$defs/value' },
    fields: { type: 'object', additionalProperties: { $ref: '#/$defs/value' } },
    lifetime,
    params: {
      type: 'object',
      description: 'the placeholders, and the codec of each',
      additionalProperties: { type: 'string' },
    },
    subject: { type: 'string', description: 'the placeholder that stands for a person' },
    owner: { type: 'string' },
    budgetBytes: { type: 'integer', minimum: 1 },
    evictable: { type: 'boolean' },
    fingerprint: {
      type: 'object',
      properties: { version: { type: 'string' }, digest: { type: 'string' } },
      required: ['version', 'digest'],
      additionalProperties: false,
    },
  },
  required: ['pattern', 'example', 'renamedFrom', 'type', 'lifetime', 'params', 'evictable'],
  additionalProperties: false,
} as const

/** The JSON Schema (2020-12) of a manifest, for whoever reads one in another language. */
export const manifestSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'The keys of a Redis keyspace, as Keyspec declares them',
  type: 'object',
  properties: {
    format: { const: 1 },
    prefix: { type: 'string', description: 'what stands before every key' },
    entries: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          entry: { type: 'string' },
          together: { type: 'boolean' },
          layout: {
            type: 'integer',
            minimum: 1,
            description: 'of a recipe: the number of the form in which it keeps its data',
          },
          keys: { type: 'array', items: { $ref: '#/$defs/key' } },
        },
        required: ['entry', 'together', 'keys'],
        additionalProperties: false,
      },
    },
  },
  required: ['format', 'prefix', 'entries'],
  additionalProperties: false,
  $defs: { key, value },
} as const
