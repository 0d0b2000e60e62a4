const text = { type: 'string' } as const
const count = { type: 'integer', minimum: 0 } as const
const forever = { anyOf: [{ type: 'integer' }, { const: 'forever' }] } as const

function object(properties: object, required: readonly string[]): object {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** JSON Schema of what `keyspec explain --json` prints. */
export const explainJson = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...object(
    {
      key: text,
      exists: { type: 'boolean' },
      entry: { ...text, description: 'absent where no entry owns the key' },
      pattern: text,
      legacy: { type: 'boolean', description: 'whether the pattern is an old one' },
      becomes: { ...text, description: 'the name that a key with an old one is to have' },
      params: { type: 'object', additionalProperties: text },
      about: text,
      owner: text,
      external: object({ by: text, about: text }, ['by']),
      ownUse: { ...text, description: 'what Keyspec itself keeps here while an entry is renamed' },
      type: text,
      declaredType: text,
      encoding: text,
      ttlMs: forever,
      declaredTtlMs: forever,
      bytes: count,
      budgetBytes: count,
      idleMs: count,
      slot: count,
      value: object(
        {
          count: { ...count, description: 'the bytes of a string, the elements of a collection' },
          omitted: { ...count, description: 'how many elements were too large to be read' },
          head: { ...text, description: 'the beginning of a string that is too large to be read' },
          parts: {
            type: 'array',
            items: object(
              {
                field: text,
                id: text,
                score: text,
                codec: text,
                failed: { type: 'boolean' },
                text: { ...text, description: 'the value as it is shown, cut where it is long' },
              },
              ['failed', 'text'],
            ),
          },
        },
        ['count', 'omitted', 'parts'],
      ),
      faults: { type: 'array', items: object({ code: text, message: text }, ['code', 'message']) },
      nearest: {
        type: 'array',
        items: object({ entry: text, pattern: text, reason: text }, ['entry', 'pattern', 'reason']),
      },
    },
    ['key', 'exists', 'faults', 'nearest'],
  ),
} as const
