import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

const program = fileURLToPath(new URL('../../program/upstream/stand-in-main.js', import.meta.url))

test('the stand-in runs as a process, says where on its first line, and ends on SIGTERM', async () => {
  const child = spawn(process.execPath, [program, '--dockets', '3', '--documents', '4', '--comments', '5'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const { name, url, records } = JSON.parse(line) as { name: string; url: string; records: number }
  expect({ name, records }).toEqual({ name: 'stand-in for regulations.gov', records: 12 })
  const response = await fetch(`${url}/dockets`, { headers: { 'X-Api-Key': 'DEMO_KEY' } })
  expect(await response.json()).toMatchObject({ meta: { totalElements: 3 } })
  child.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
})

test('the stand-in refuses a count that is no number', async () => {
  const child = spawn(process.execPath, [program, '--dockets', 'many'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(child, 'exit')
  const [words] = (await once(child.stderr, 'data')) as [Buffer]
  expect(words.toString()).toBe('--dockets takes a whole number, not "many"\n')
  expect(await exited).toEqual([2, null])
})
