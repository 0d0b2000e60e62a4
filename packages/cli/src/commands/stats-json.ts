import { object } from './record-schema.ts'
import { snapshotSchema } from './snapshot.ts'

const estimate = {
  description: 'a number, and its 95 % interval; the same three times where all keys were counted',
  type: 'object',
  properties: { value: { type: 'number' }, low: { type: 'number' }, high: { type: 'number' } },
  required: ['value', 'low', 'high'],
  additionalProperties: false,
} as const

const portion = { keys: estimate, share: estimate } as const

const named = {
  type: 'array',
  items: {
    type: 'object',
    properties: { name: { type: 'string' }, ...portion },
    required: ['name', 'keys', 'share'],
    additionalProperties: false,
  },
} as const

const below = { type: 'number', description: 'absent in the last bucket, which has no bound' } as const
const times = { type: 'array', items: object({ belowMs: below, ...portion }, ['belowMs']) } as const
const sizes = { type: 'array', items: object({ belowBytes: below, ...portion }, ['belowBytes']) } as const

const tallied = {
  keys: estimate,
  bytes: { ...estimate, description: 'of the size that sizes names' },
  share: { ...estimate, description: 'the part of the memory of all that was chosen' },
  types: named,
  encodings: named,
  forever: { type: 'object', properties: portion, required: ['keys', 'share'], additionalProperties: false },
  ttl: times,
  sizes: sizes,
  idle: { ...times, description: 'empty where the server does not know' },
} as const

const count = { type: 'integer', minimum: 0 } as const

/** JSON Schema of what `keyspec stats --json` prints. */
export const statsJson = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    by: { enum: ['entry', 'prefix'] },
    sizes: {
      enum: ['memory', 'serialized'],
      description: 'what bytes are: what MEMORY USAGE says, or what keys take in a snapshot',
    },
    snapshot: snapshotSchema,
    exact: { type: 'boolean', description: 'whether all keys were looked at' },
    looked: { ...count, description: 'how many keys were looked at' },
    of: { ...count, description: 'how many keys the server has' },
    all: object(tallied),
    groups: {
      type: 'array',
      items: object(
        {
          name: {
            type: 'string',
            description: 'an entry or a prefix; absent for keys of no entry, or the rest of the prefixes',
          },
          ...tallied,
        },
        ['name'],
      ),
    },
    biggest: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          key: { type: 'string' },
          type: { type: 'string' },
          bytes: count,
          entry: { type: 'string' },
        },
        required: ['key', 'type', 'bytes'],
        additionalProperties: false,
      },
    },
  },
  required: ['by', 'sizes', 'exact', 'looked', 'of', 'all', 'groups', 'biggest'],
  additionalProperties: false,
} as const
