import { expect, test } from 'vitest'

import { normalised } from './normalised.ts'

test('white space is one space, and case stays', () => {
  expect(normalised('  The\t Thing \n from  It ')).toBe('The Thing from It')
  expect(normalised('It')).not.toBe(normalised('it'))
})
