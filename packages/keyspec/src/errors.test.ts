import { expect, test } from 'vitest'
import { ServerError } from './connection/server-error.ts'
import { DecodeError, EncodeError, KeyError, KeyspecError, SchemaError, ScriptError } from './errors.ts'

test('every error names its key, keeps its cause and has a code', () => {
  const cause = new TypeError('year: expected a number')
  const error = new DecodeError('prod:movie:7', 'json', cause)
  expect(error).toBeInstanceOf(KeyspecError)
  expect(error).toMatchObject({ code: 'E_DECODE', key: 'prod:movie:7', name: 'DecodeError', cause })
  expect(error.message).toBe('prod:movie:7: holds a value that is not json: year: expected a number')
})

test.each([
  'ERR value is not an integer or out of range',
  `ERR value is not an integer or out of range script: ${'a1'.repeat(20)}, on @user_script:12.`,
  // As Valkey says it from 9 on.
  'ERR value is not an integer or out of range script: on @user_script:4.',
])('what a server says is told without where it said it: %j', (reply) => {
  const cause = new ServerError(reply, 'EVALSHA', 'k')
  expect(new DecodeError('k', 'integer', cause).message).toBe(
    'k: holds a value that is not integer: value is not an integer or out of range',
  )
})

test('an error on write says that nothing was written', () => {
  expect(new EncodeError('a', 'integer', 'x').message).toContain('not written')
})

test('a script error names the script', () => {
  expect(new ScriptError('lock/release', 'lock:a', new Error('line 3')).message).toBe(
    'lock:a: script lock/release failed: line 3',
  )
})

test('an error without a cause has none', () => {
  expect('cause' in new SchemaError('no')).toBe(false)
  expect(new KeyError('no', 'a:<b>').key).toBe('a:<b>')
})
