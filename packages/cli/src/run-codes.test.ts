import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyspec } from '../../../test-support/command-line.ts'

let folder: string
beforeAll(async () => {
  // Inside the repository, so that the configuration finds `keyspec`.
  folder = await mkdtemp(join(import.meta.dirname, '../../../node_modules/.codes-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Runs a command whose connection, made by the configuration, throws this. */
async function throwing(name: string, thrown: string) {
  const config = join(folder, `${name}.mjs`)
  const schema = `{ a: string('a:<id>', text, { ttl: '1h' }) }`
  const connect = `async () => { throw ${thrown} }`
  await writeFile(
    config,
    `import { string, text } from 'keyspec'\nexport default { schema: ${schema}, connect: ${connect} }\n`,
  )
  return keyspec(['stats', '--config', config])
}

test.each<[string, number]>([
  ['E_SCHEMA', 2],
  ['E_KEY', 2],
  ['E_ARGUMENT', 2],
  ['E_DENIED', 3],
  ['E_NOT_READY', 3],
  ['E_WRONG_NODE', 3],
  ['E_UNAVAILABLE', 3],
  ['E_NOT_SENT', 3],
  ['E_UNKNOWN_OUTCOME', 3],
  ['E_SNAPSHOT', 3],
  ['E_ARCHIVE', 1],
  ['E_IMPORT', 1],
  ['E_SCRIPT', 1],
])('an error with the code %s ends the command with %d, and says its words', async (code, exitCode) => {
  const ran = await throwing(code, `Object.assign(new Error('what it says'), { code: '${code}' })`)
  expect([ran.code, ran.err]).toEqual([exitCode, 'keyspec: what it says\n'])
})

test('an error without a code is the client’s, and a mistake in a program is not hidden', async () => {
  const lost = await throwing('lost', `new Error('socket closed')`)
  expect([lost.code, lost.err]).toEqual([3, 'keyspec: the connection was lost: socket closed\n'])
  await expect(throwing('mistake', `new TypeError('a mistake')`)).rejects.toThrow('a mistake')
})
