import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { embedLua } from '../embed-lua.js'
import { root } from '../setup.js'

test('every lua.gen.ts holds what its .lua files say: if not, run `npm run embed`', () => {
  expect(embedLua(join(root, 'packages'), { write: false })).toEqual([])
})

test('the generator names stale files, writes them sorted, and removes one that has no .lua left', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keyspec-embed-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const generated = join(folder, 'lua.gen.ts')
  writeFileSync(join(folder, 'take-many.lua'), 'return "${x}\\n"\n')
  writeFileSync(join(folder, 'give.lua'), '-- Gives.\nif x then\n  -- All of it.\n  return 1 -- one\nend\n')

  expect(embedLua(folder, { write: false })).toEqual([generated])
  expect(embedLua(folder, { write: true })).toEqual([generated])
  expect(embedLua(folder, { write: false })).toEqual([])
  expect(readFileSync(generated, 'utf8')).toBe(
    [
      '// Generated from the .lua files beside it by scripts/embed-lua.js',
      // Line for line, so that an error's number is that of the file.
      String.raw`export const give = "\nif x then\n\n  return 1 -- one\nend\n"`,
      String.raw`export const takeMany = "return \"${'${x}'}\\n\"\n"`,
      '',
    ].join('\n'),
  )

  rmSync(join(folder, 'give.lua'))
  rmSync(join(folder, 'take-many.lua'))
  expect(embedLua(folder, { write: true })).toEqual([generated])
  expect(() => readFileSync(generated)).toThrow('ENOENT')
})
