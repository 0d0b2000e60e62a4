const name = { type: ['string', 'null'] } as const
const amount = { type: 'integer', minimum: 0 } as const

/** What a line of `keyspec erase --json` is. */
export const eraseSchema = {
  oneOf: [
    {
      description: 'with --dry-run: what would go, and what stays since another program owns it',
      type: 'object',
      properties: {
        record: { const: 'preview' },
        entry: { ...name, description: 'null: no entry owns these keys' },
        program: { ...name, description: 'the program that owns them, where it is another' },
        forever: { type: 'boolean', description: 'declared to live forever' },
        spared: { type: 'boolean', description: 'they stay, as --external was not given' },
        keys: amount,
        bytes: amount,
        samples: { type: 'array', items: { type: 'string' }, maxItems: 5 },
      },
      required: ['record', 'entry', 'program', 'forever', 'spared', 'keys', 'bytes', 'samples'],
      additionalProperties: false,
    },
    {
      description: 'what went, by entry',
      type: 'object',
      properties: { record: { const: 'erased' }, entry: name, program: name, keys: amount },
      required: ['record', 'entry', 'program', 'keys'],
      additionalProperties: false,
    },
    {
      description: 'the last line',
      type: 'object',
      properties: {
        record: { const: 'total' },
        keys: amount,
        bytes: { ...amount, description: 'with --dry-run' },
        dryRun: { type: 'boolean' },
      },
      required: ['record', 'keys', 'dryRun'],
      additionalProperties: false,
    },
  ],
} as const
