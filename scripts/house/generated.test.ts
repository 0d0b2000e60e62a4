import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { embedLua } from '../embed-lua.js'
import { root } from '../setup.js'

test('every lua.gen.ts holds what its .lua files say: if not, run `npm run embed`', () => {
  expect(embedLua(path.join(root, 'packages'), { write: false })).toEqual([])
})

test('a script holds what it includes on one line, and an included file stands alone', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'keyspec-embed-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(path.join(folder, 'include'))
  const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text)
  write('include/live.lua', '-- Lives.\nif a then\n  live(a)\nend\n')
  write('go.lua', 'a = 1\n  --@include include/live.lua\nreturn a\n')

  expect(embedLua(folder, { write: true })).toEqual([path.join(folder, 'lua.gen.ts')])
  expect(readFileSync(path.join(folder, 'lua.gen.ts'), 'utf8')).toContain(
    String.raw`export const go = "a = 1\nif a then live(a) end\nreturn a\n"`,
  )
  write('include/live.lua', 'live(a) -- now\n')
  expect(() => embedLua(folder, { write: true })).toThrow('needs a line of its own')
  write('include/live.lua', '--@include include/live.lua\n')
  expect(() => embedLua(folder, { write: true })).toThrow('so it may include nothing')
  write('go.lua', '--@include go.lua\n')
  expect(() => embedLua(folder, { write: true })).toThrow('in no folder `include`')
})

test('the generator names stale files, writes them sorted, and removes one that has no .lua left', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'keyspec-embed-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const generated = path.join(folder, 'lua.gen.ts')
  writeFileSync(path.join(folder, 'take-many.lua'), 'return "${x}\\n"\n')
  writeFileSync(
    path.join(folder, 'give.lua'),
    '-- Gives.\nif x then\n  -- All of it.\n  return 1 -- one\nend\n',
  )

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

  rmSync(path.join(folder, 'give.lua'))
  rmSync(path.join(folder, 'take-many.lua'))
  expect(embedLua(folder, { write: true })).toEqual([generated])
  expect(() => readFileSync(generated)).toThrow('ENOENT')
})
