import { isSchema, type JsonSchema } from '../manifest/json-schema.ts'
import type { ManifestKey, ManifestValue } from '../manifest/manifest.ts'
import { cell, code, rows } from './markdown.ts'

/** What stands in the value: a table of its fields, as far as something describes them. */
export function valueTable({ value, fields }: ManifestKey): string[] {
  if (fields !== undefined) return [fieldTable(fields)]
  if (value?.jsonSchema === undefined) return []
  const found = flattened(value.jsonSchema)
  if (found.length === 1 && found[0]!.path === '') return [`The value is ${found[0]!.type}.`]
  return [memberTable(found)]
}

function fieldTable(fields: { readonly [field: string]: ManifestValue }): string {
  return rows(
    ['field', 'value'],
    Object.entries(fields).map(([field, { codec, jsonSchema }]) => [
      field === '*' ? 'any other' : code(field),
      jsonSchema === undefined ? code(codec) : `${code(codec)}: ${cell(typeOf(jsonSchema, jsonSchema))}`,
    ]),
  )
}

function memberTable(members: readonly Member[]): string {
  const shown = members.slice(0, MOST_ROWS)
  const left = members.length - shown.length
  return rows(
    ['in it', 'type'],
    [
      ...shown.map(({ path, type, required }) => [
        code(path === '' ? 'the value' : path),
        `${cell(type)}${required ? '' : ', optional'}`,
      ]),
      ...(left === 0 ? [] : [[`and ${left} more`, '']]),
    ],
  )
}

interface Member {
  /** `cart[].price` */
  readonly path: string
  readonly type: string
  readonly required: boolean
}

const MOST_ROWS = 30
const DEEPEST = 5

function flattened(root: JsonSchema): Member[] {
  const members: Member[] = []
  const visit = (given: JsonSchema, path: string, required: boolean, depth: number): void => {
    const schema = resolved(given, root)
    const inner = objectIn(schema, root)
    if (inner !== undefined && depth < DEEPEST) {
      // What is in a plain object says that it is there.
      const isPlain = required && schema === inner.schema
      if (!isPlain) members.push({ path, type: typeOf(given, root), required })
      const needed = new Set(inner.schema['required'] as readonly string[] | undefined)
      for (const [name, member] of Object.entries(
        (inner.schema['properties'] ?? {}) as Record<string, JsonSchema>,
      )) {
        const start = `${path}${inner.suffix}`
        visit(member, start === '' ? name : `${start}.${name}`, needed.has(name), depth + 1)
      }
      return
    }
    members.push({ path, type: typeOf(given, root), required })
  }
  visit(root, '', true, 0)
  return members
}

/** The object that a schema describes, behind `null` and lists: its fields are shown too. */
function objectIn(
  schema: JsonSchema,
  root: JsonSchema,
  suffix = '',
): { readonly schema: JsonSchema; readonly suffix: string } | undefined {
  if (schema['properties'] !== undefined) return { schema, suffix }
  if (isSchema(schema['items'])) return objectIn(resolved(schema['items'], root), root, `${suffix}[]`)
  const options = optionsOf(schema)?.filter((option) => option['type'] !== 'null')
  return options?.length === 1 ? objectIn(resolved(options[0]!, root), root, suffix) : undefined
}

function typeOf(given: JsonSchema, root: JsonSchema, depth = 0): string {
  const schema = resolved(given, root)
  if (depth > DEEPEST) return '…'
  if ('const' in schema) return code(JSON.stringify(schema['const']))
  const { enum: values, type } = schema
  if (Array.isArray(values)) return values.map((value) => code(JSON.stringify(value))).join(', ')
  const options = optionsOf(schema)
  if (options !== undefined)
    return [...new Set(options.map((option) => typeOf(option, root, depth + 1)))].join(' or ')
  if (type === 'array')
    return isSchema(schema['items']) ? `list of ${typeOf(schema['items'], root, depth + 1)}` : 'list'
  if (Array.isArray(type)) return type.join(' or ')
  return [typeof type === 'string' ? type : 'anything', ...limitsOf(schema)].join(' ')
}

const LIMITS = [
  ['minimum', '≥ '],
  ['exclusiveMinimum', '> '],
  ['maximum', '≤ '],
  ['exclusiveMaximum', '< '],
] as const

function limitsOf(schema: JsonSchema): string[] {
  const { format } = schema
  return [
    ...(typeof format === 'string' ? [`(${format})`] : []),
    ...LIMITS.flatMap(([word, sign]) => (typeof schema[word] === 'number' ? [`${sign}${schema[word]}`] : [])),
  ]
}

function optionsOf(schema: JsonSchema): readonly JsonSchema[] | undefined {
  return (schema['anyOf'] ?? schema['oneOf']) as readonly JsonSchema[] | undefined
}

function resolved(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const { $ref: ref } = schema
  if (typeof ref !== 'string') return schema
  const name = /^#\/(?:\$defs|definitions)\/(.+)$/.exec(ref)?.[1]
  const definitions = (root['$defs'] ?? root['definitions'] ?? {}) as Record<string, JsonSchema>
  return (name === undefined ? undefined : definitions[name]) ?? {}
}
