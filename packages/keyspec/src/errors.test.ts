import { expect, test } from 'vitest'
import { DecodeError, EncodeError, KeyError, KeyspecError, SchemaError, ScriptError } from './errors.ts'

test('every error names its key, keeps its cause and has a code', () => {
  const cause = new TypeError('year: expected a number')
  const error = new DecodeError('prod:movie:7', 'json', cause)
  expect(error).toBeInstanceOf(KeyspecError)
  expect(error).toMatchObject({ code: 'E_DECODE', key: 'prod:movie:7', name: 'DecodeError', cause })
  expect(error.message).toBe('prod:movie:7: holds a value that is not json: year: expected a number')
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
