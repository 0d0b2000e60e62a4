import type { JSONSchema } from 'json-schema-to-ts'
import { expect, expectTypeOf, test } from 'vitest'
import { commands } from './command-list.ts'
import type { RecordOf } from './command.ts'
import { count, object } from './commands/record-schema.ts'

interface Schema {
  readonly description?: string
  readonly title?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: boolean | Schema
}

const all = await Promise.all(
  Object.entries(commands).map(async ([name, { load }]) => ({ name, ...(await load()).json })),
)

test('the page of all JSON output is that of the schemas: if not, run the tests with -u', async () => {
  const sections = all.map(({ name, form, schema }) =>
    [
      `## keyspec ${name} --json`,
      form === 'lines' ? 'A record a line.' : 'One document.',
      ...tablesOf(schema),
    ].join('\n\n'),
  )
  const page = [
    '# JSON output',
    'Every command prints JSON with `--json`, and its JSON Schema with `--json-schema`. These tables are made of the schemas; so are the ' +
      'types that the code of each command is checked with. A field that is not listed is never printed.',
    ...sections,
  ].join('\n\n')
  await expect(`${page}\n`).toMatchFileSnapshot('../../../docs/cli/json.md')
})

test('every object of every schema is closed', () => {
  const open: string[] = []
  const follow = (schema: Schema, path: string) => {
    if (schema.properties !== undefined && schema.additionalProperties !== false) open.push(path)
    for (const [name, inner] of Object.entries(schema.properties ?? {})) follow(inner, `${path}.${name}`)
    for (const [at, inner] of (schema.oneOf ?? []).entries()) follow(inner, `${path}[${at}]`)
    if (schema.items !== undefined) follow(schema.items, `${path}[]`)
  }
  for (const { name, schema } of all) follow(schema, name)
  expect(open).toEqual([])
})

test('a record that is not of the schema does not compile', () => {
  const schema = object({ record: { const: 'a' }, keys: count, name: { type: 'string' } }, ['name'])
  type Row = RecordOf<typeof schema>
  expectTypeOf(schema).toExtend<JSONSchema>()
  expectTypeOf<{ record: 'a'; keys: number; name: undefined }>().toExtend<Row>()
  expectTypeOf<{ record: 'b'; keys: number }>().not.toExtend<Row>()
  expectTypeOf<{ record: 'a' }>().not.toExtend<Row>()
  expect(schema.required).toEqual(['record', 'keys'])
})

function tablesOf(schema: Schema): string[] {
  if (schema.oneOf !== undefined) return schema.oneOf.flatMap(tablesOf)
  const head = schema.description ?? schema.title
  const rows = rowsOf(schema, '')
  return [
    ...(head === undefined ? [] : [`${head[0]!.toUpperCase()}${head.slice(1)}:`]),
    ['| field | value |', '|---|---|', ...rows].join('\n'),
  ]
}

function rowsOf({ properties = {}, required = [] }: Schema, before: string): string[] {
  return Object.entries(properties).flatMap(([name, inner]) => {
    const path = `${before}${name}`
    const notes = [kindOf(inner), ...(required.includes(name) ? [] : ['optional'])].join(', ')
    const about = inner.description === undefined ? '' : `: ${inner.description}`
    const nested = inner.properties === undefined ? inner.items : inner
    const inside = inner.properties === undefined ? `${path}[].` : `${path}.`
    return [
      `| \`${path}\` | ${`${notes}${about}`.replaceAll('|', String.raw`\|`)} |`,
      ...(nested?.properties === undefined ? [] : rowsOf(nested, inside)),
    ]
  })
}

function kindOf({ type, const: only, enum: some, oneOf, items }: Schema): string {
  if (only !== undefined) return `\`${JSON.stringify(only)}\``
  if (some !== undefined) return some.map((each) => `\`${JSON.stringify(each)}\``).join(' or ')
  if (oneOf !== undefined) return oneOf.map(kindOf).join(' or ')
  if (items !== undefined) return `list of ${kindOf(items)}`
  return (typeof type === 'string' ? [type] : (type ?? ['anything'])).join(' or ')
}
