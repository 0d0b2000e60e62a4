import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

const program = fileURLToPath(new URL('../../../program/upstream/stand-in/stand-in-main.js', import.meta.url))

test('the stand-in runs as a process, says where on its first line, and ends on SIGTERM', async () => {
  const child = spawn(process.execPath, [program, '--dockets', '3', '--token', 't'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const { name, url, dockets } = JSON.parse(line) as { name: string; url: string; dockets: number }
  expect({ name, dockets }).toEqual({ name: 'stand-in for CourtListener', dockets: 3 })
  const response = await fetch(`${url}/dockets/`, { headers: { Authorization: 'Token t' } })
  expect(await response.json()).toMatchObject({ next: null })
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
