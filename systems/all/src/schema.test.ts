import { mount, SchemaError, string, text, validate } from 'keyspec'
import { expect, test } from 'vitest'
import { all } from './schema.ts'

test('the five keyspaces on one database are disjoint', () => {
  expect(Object.keys(all)).toHaveLength(5)
  expect(() => validate(all)).not.toThrow()
})

test('one entry that could own another’s key is found, by name', () => {
  const greedy = { ...all, greedy: mount('cache:', { any: string('<a>:<b>', text, { ttl: '1h' }) }) }
  expect(() => validate(greedy)).toThrow(SchemaError)
  expect(() => validate(greedy)).toThrow(/greedy\.any.*tutor\.|tutor\..*greedy\.any/s)
})
