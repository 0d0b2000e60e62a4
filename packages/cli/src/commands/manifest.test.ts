import { readFile } from 'node:fs/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { keyspec } from '../../../../test-support/command-line.ts'
import { manifest } from './manifest.ts'

const published = new URL('../../../../docs/cli/manifest.schema.json', import.meta.url)

test('prints the schema as JSON that its published JSON Schema describes, the same each time', async () => {
  const first = await keyspec(['manifest'])
  const second = await keyspec(['manifest'])
  expect(first.code).toBe(0)
  expect(second.out).toBe(first.out)
  const validate = new Ajv2020().compile(manifest.json.schema)
  const made = JSON.parse(first.out)
  expect(validate(made), JSON.stringify(validate.errors)).toBe(true)
  expect(validate({ ...made, date: 'today' })).toBe(false)
  const [line] = (await keyspec(['manifest', '--json'])).json()
  expect(line).toEqual(made)
})

test('describes what valibot validates, and keeps the order of paths', async () => {
  const [{ prefix, entries }] = (await keyspec(['manifest', '--json'])).json()
  expect(prefix).toBe('shop:')
  const paths = entries.map(({ entry }: { entry: string }) => entry)
  expect(paths).toEqual(paths.toSorted())
  const session = entries.find(({ entry }: { entry: string }) => entry === 'session')
  expect(session.keys[0]).toMatchObject({
    pattern: 'session:<userId>',
    example: 'shop:session:42',
    renamedFrom: ['sess:<userId>'],
    phase: 2,
    value: { codec: 'json', jsonSchema: { type: 'object', required: ['user', 'cart'] } },
  })
})

test('its JSON Schema in the documentation is the one that it keeps to', async () => {
  expect(JSON.parse(await readFile(published, 'utf8'))).toEqual(manifest.json.schema)
})
