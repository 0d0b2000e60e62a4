import { expect, test } from 'vitest'
import { filesIn, textOf } from './tracked.ts'

test('the library listens to a signal through onAbort alone, since Node warns of more than ten listeners', () => {
  const listening = filesIn('packages/keyspec/src').filter(
    (path) =>
      path.endsWith('.ts') &&
      !/\.test(-d)?\.ts$/.test(path) &&
      /\.addEventListener\('abort'|AbortSignal\.any\(/.test(textOf(path)),
  )
  expect(listening).toEqual(['packages/keyspec/src/abort.ts'])
})
