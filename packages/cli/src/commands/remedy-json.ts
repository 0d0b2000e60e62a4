const text = { type: 'string' } as const

/** JSON Schema of a remedy: what to do, as data. */
export const remedyJson = {
  description: 'what to do, as data',
  type: 'object',
  properties: {
    kind: {
      enum: [
        'explain',
        'declare',
        'give-ttl',
        'cap-ttl',
        'persist',
        'migrate',
        'stop-then-migrate',
        'verify-migration',
        'look-for-evidence',
        'see-biggest',
        'repair',
        'erase',
        'examine',
        'connect-cluster',
        'configure',
        'allow',
        'send',
        'check-cluster',
        'fix-cluster',
        'set-clock',
      ],
    },
    entry: text,
    key: text,
    under: { ...text, description: 'what the keys begin with; empty where nothing is known' },
    settings: {
      type: 'array',
      items: {
        type: 'object',
        properties: { parameter: text, value: text },
        required: ['parameter', 'value'],
        additionalProperties: false,
      },
    },
    user: text,
    rules: { type: 'array', items: text, description: 'ACL rules' },
    tool: text,
    command: { type: 'array', items: text, description: 'a Redis command that changes no key' },
    to: { ...text, description: 'host and port of another server' },
  },
  required: ['kind'],
  additionalProperties: false,
} as const

/** JSON Schema of several remedies. */
export const remediesJson = { type: 'array', items: remedyJson } as const
