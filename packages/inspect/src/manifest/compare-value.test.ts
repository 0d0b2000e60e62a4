import { expect, test } from 'vitest'
import { compareValues } from './compare-value.ts'
import type { JsonSchema } from './json-schema.ts'

const string = { type: 'string' }
const number = { type: 'number' }
const object = (properties: object, required: string[] = [], rest: object = {}) => ({
  type: 'object',
  properties,
  required,
  ...rest,
})
const closed = { additionalProperties: false }

test.each<[string, JsonSchema, JsonSchema, string[]]>([
  ['nothing', object({ a: string }), object({ a: string }), []],
  ['the order of words', { type: 'string', minLength: 1 }, { minLength: 1, type: 'string' }, []],
  ['a description', string, { ...string, description: 'x' }, []],
  ['a field that must be there', object({}), object({ a: string }, ['a']), ['narrowed a']],
  ['a field that may be there', object({}), object({ a: string }), ['compatible a']],
  ['a field in a closed object', object({}, [], closed), object({ a: string }, [], closed), ['widened a']],
  [
    'a needed field in a closed object',
    object({}, [], closed),
    object({ a: string }, ['a'], closed),
    ['narrowed a', 'widened a'],
  ],
  ['a needed field less', object({ a: string }, ['a']), object({}), ['widened a']],
  ['a field less', object({ a: string }), object({}), ['compatible a']],
  [
    'a field less in a closed object',
    object({ a: string }, [], closed),
    object({}, [], closed),
    ['narrowed a'],
  ],
  ['optional to needed', object({ a: string }), object({ a: string }, ['a']), ['narrowed a']],
  ['needed to optional', object({ a: string }, ['a']), object({ a: string }), ['widened a']],
  ['open to closed', object({}), object({}, [], closed), ['narrowed *']],
  ['closed to open', object({}, [], closed), object({}), ['widened *']],
  [
    'the type of other fields',
    object({}, [], { additionalProperties: { type: 'integer' } }),
    object({}, [], { additionalProperties: number }),
    ['widened *'],
  ],
  ['another type', object({ a: string }), object({ a: number }), ['unknown a']],
  ['whole numbers to any', { type: 'integer' }, number, ['widened ']],
  ['any number to whole ones', number, { type: 'integer' }, ['narrowed ']],
  ['anything', string, {}, ['widened ']],
  ['no longer anything', {}, string, ['narrowed ']],
  ['a value more', { enum: ['a'] }, { enum: ['a', 'b'] }, ['widened ']],
  ['a value less', { enum: ['a', 'b'] }, { const: 'a' }, ['narrowed ']],
  ['another value', { const: 1 }, { const: 2 }, ['narrowed ', 'widened ']],
  ['values to any text', { enum: ['a'] }, string, ['widened ']],
  ['any text to values', string, { enum: ['a'] }, ['narrowed ']],
  ['values to another type', { enum: ['a'] }, number, ['unknown ']],
  ['a higher minimum', { ...number, minimum: 1 }, { ...number, minimum: 2 }, ['narrowed ']],
  ['a lower minimum', { ...number, minimum: 1 }, { ...number, minimum: 0 }, ['widened ']],
  ['a higher maximum', { ...number, maximum: 1 }, { ...number, maximum: 2 }, ['widened ']],
  ['a format', string, { ...string, format: 'date' }, ['narrowed ']],
  ['no format', { ...string, format: 'date' }, string, ['widened ']],
  ['another format', { ...string, format: 'date' }, { ...string, format: 'time' }, ['unknown ']],
  ['a word that is not known', string, { ...string, contentEncoding: 'base64' }, ['narrowed ']],
  ['null too', string, { anyOf: [string, { type: 'null' }] }, ['widened ']],
  ['null too, in another spelling', string, { type: ['string', 'null'] }, ['widened ']],
  ['null no longer', { anyOf: [string, { type: 'null' }] }, string, ['narrowed ']],
  [
    'one of several options',
    { anyOf: [{ type: 'null' }, object({ a: string })] },
    { anyOf: [object({ a: string }, ['a']), { type: 'null' }] },
    ['narrowed a'],
  ],
  [
    'an option that is told by its tag',
    { oneOf: [object({ k: { const: 1 } }), object({ k: { const: 2 }, n: string })] },
    { oneOf: [object({ k: { const: 1 } }), object({ k: { const: 2 }, n: string }, ['n'])] },
    ['narrowed n'],
  ],
  [
    'in a list of objects',
    { type: 'array', items: object({ sku: string }) },
    { type: 'array', items: object({ sku: number }) },
    ['unknown [].sku'],
  ],
  [
    'in a definition that refers to itself',
    { $ref: '#/$defs/node', $defs: { node: object({ next: { $ref: '#/$defs/node' }, n: string }) } },
    { $ref: '#/$defs/node', $defs: { node: object({ next: { $ref: '#/$defs/node' }, n: number }) } },
    ['unknown n'],
  ],
  [
    'in a definition behind options',
    { anyOf: [{ $ref: '#/$defs/a' }, string], $defs: { a: object({ n: number }) } },
    { anyOf: [{ $ref: '#/$defs/a' }, string], $defs: { a: object({ n: number }, ['n']) } },
    ['narrowed n'],
  ],
  ['a definition that is not there', { $ref: '#/$defs/a' }, string, ['unknown ']],
  [
    'a field that is called like a word',
    object({ required: string, constructor: string }),
    object({ required: number }),
    ['unknown required', 'compatible constructor'],
  ],
])('%s', (_what, before, after, expected) => {
  const found = compareValues(before, after).map(({ direction, path }) => `${direction} ${path}`)
  expect(found.toSorted()).toEqual(expected.toSorted())
})
