import { isSchema, type JsonSchema } from './json-schema.ts'

/** One difference between what may stand in a value before and after. */
export interface Shift {
  /**
   * `narrowed`: values that were right are refused now. `widened`: values are written that readers of before refuse.
   * `unknown`: perhaps both. `compatible`: neither matters.
   */
  readonly direction: 'narrowed' | 'widened' | 'unknown' | 'compatible'
  /** Where in the value: `cart[].sku`; empty for all of it. */
  readonly path: string
  readonly what: string
}

/** How what may stand in a value has changed, by the structure of two JSON Schemas; what it cannot judge is `unknown`. */
export function compareValues(before: JsonSchema, after: JsonSchema): Shift[] {
  if (canonical(before) === canonical(after)) return []
  const seen = new Set<string>()
  return [...compared(before, after, { path: '', before, after, seen })]
}

interface Place {
  readonly path: string
  /** The whole schemas, for references into them. */
  readonly before: JsonSchema
  readonly after: JsonSchema
  /** Pairs of references that are being compared already. */
  readonly seen: Set<string>
}

function* compared(one: JsonSchema, other: JsonSchema, place: Place): Generator<Shift> {
  const pair = `${String(one['$ref'])} ${String(other['$ref'])}`
  if ('$ref' in one || '$ref' in other) {
    if (place.seen.has(pair)) return
    place.seen.add(pair)
  }
  const [a, b] = [resolved(one, place.before), resolved(other, place.after)]
  if (a === undefined || b === undefined) {
    yield { direction: 'unknown', path: place.path, what: 'refers to something that is not there' }
    return
  }
  const [left, right] = [optionsOf(a), optionsOf(b)]
  if (left.length > 1 || right.length > 1) return yield* comparedOptions(left, right, place)
  yield* comparedTypes(a, b, place)
}

function* comparedTypes(a: JsonSchema, b: JsonSchema, place: Place): Generator<Shift> {
  const { path } = place
  const [values, nextValues] = [valuesOf(a), valuesOf(b)]
  if (values !== undefined || nextValues !== undefined) {
    return yield* comparedLists(values, nextValues, path, typeOf(a), typeOf(b))
  }
  const [type, nextType] = [typeOf(a), typeOf(b)]
  if (type !== nextType) {
    if (nextType === 'anything' || (type === 'integer' && nextType === 'number'))
      yield { direction: 'widened', path, what: `was ${type}, is ${nextType}` }
    else if (type === 'anything' || (type === 'number' && nextType === 'integer'))
      yield { direction: 'narrowed', path, what: `was ${type}, is ${nextType}` }
    else {
      yield { direction: 'unknown', path, what: `was ${type}, is ${nextType}` }
      return
    }
  }
  yield* comparedLimits(a, b, path)
  if (isObject(a) && isObject(b)) yield* comparedObjects(a, b, place)
  if (isSchema(a['items']) && isSchema(b['items']))
    yield* compared(a['items'], b['items'], { ...place, path: `${path}[]` })
}

function* comparedLists(
  values: readonly unknown[] | undefined,
  nextValues: readonly unknown[] | undefined,
  path: string,
  type: string,
  nextType: string,
): Generator<Shift> {
  if (values === undefined || nextValues === undefined) {
    const [listed, free] = values === undefined ? [nextValues!, type] : [values, nextType]
    const fits = free === 'anything' || listed.every((value) => isOfType(value, free))
    const what = values === undefined ? `takes only ${listOf(listed)} now` : `takes any ${free} now`
    const direction = fits ? (values === undefined ? 'narrowed' : 'widened') : 'unknown'
    yield { direction, path, what }
    return
  }
  const [before, after] = [values.map(canonical), nextValues.map(canonical)]
  const gone = before.filter((value) => !after.includes(value))
  const added = after.filter((value) => !before.includes(value))
  if (gone.length > 0) yield { direction: 'narrowed', path, what: `takes ${gone.join(', ')} no longer` }
  if (added.length > 0) yield { direction: 'widened', path, what: `takes ${added.join(', ')} too` }
}

function* comparedObjects(a: JsonSchema, b: JsonSchema, place: Place): Generator<Shift> {
  const [fields, nextFields] = [propertiesOf(a), propertiesOf(b)]
  const [needed, nextNeeded] = [requiredOf(a), requiredOf(b)]
  const [rest, nextRest] = [a['additionalProperties'] ?? true, b['additionalProperties'] ?? true]
  for (const name of new Set([...Object.keys(fields), ...Object.keys(nextFields)])) {
    const path = place.path === '' ? name : `${place.path}.${name}`
    const [field, nextField] = [own(fields, name), own(nextFields, name)]
    if (field !== undefined && nextField !== undefined) {
      if (needed.has(name) && !nextNeeded.has(name))
        yield { direction: 'widened', path, what: 'may be left out now' }
      if (!needed.has(name) && nextNeeded.has(name))
        yield { direction: 'narrowed', path, what: 'must be there now' }
      yield* compared(field, nextField, { ...place, path })
    } else if (nextField === undefined) {
      const isNeeded = needed.has(name)
      if (isNeeded) yield { direction: 'widened', path, what: 'is gone, and readers of before need it' }
      if (nextRest === false) yield { direction: 'narrowed', path, what: 'is refused now' }
      else if (isSchema(nextRest)) yield* compared(field!, nextRest, { ...place, path })
      else if (!isNeeded)
        yield { direction: 'compatible', path, what: 'is gone; it could be left out before' }
    } else {
      const isNeeded = nextNeeded.has(name)
      if (isNeeded) yield { direction: 'narrowed', path, what: 'is new and must be there' }
      if (rest === false)
        yield { direction: 'widened', path, what: 'is new, and readers of before refuse it' }
      else if (isSchema(rest)) yield* compared(rest, nextField, { ...place, path })
      else if (!isNeeded) yield { direction: 'compatible', path, what: 'is new and may be left out' }
    }
  }
  const path = place.path === '' ? '*' : `${place.path}.*`
  if (isSchema(rest) && isSchema(nextRest)) yield* compared(rest, nextRest, { ...place, path })
  else if (canonical(rest) !== canonical(nextRest))
    yield nextRest === false || rest === true
      ? { direction: 'narrowed', path, what: 'other fields are refused now' }
      : { direction: 'widened', path, what: 'other fields may stand there now' }
}

const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']
const UPPER = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']
// Compared where they belong, or of no account for what is right.
const ELSEWHERE = new Set(
  '$schema $id $ref $defs definitions $comment title description examples default deprecated readOnly writeOnly type enum const anyOf oneOf properties required additionalProperties items'.split(
    ' ',
  ),
)

function* comparedLimits(a: JsonSchema, b: JsonSchema, path: string): Generator<Shift> {
  for (const word of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (ELSEWHERE.has(word) || canonical(a[word]) === canonical(b[word])) continue
    const what = `${word} was ${worded(a[word])}, is ${worded(b[word])}`
    if (a[word] === undefined) yield { direction: 'narrowed', path, what }
    else if (b[word] === undefined) yield { direction: 'widened', path, what }
    else if (LOWER.includes(word))
      yield { direction: Number(b[word]) > Number(a[word]) ? 'narrowed' : 'widened', path, what }
    else if (UPPER.includes(word))
      yield { direction: Number(b[word]) < Number(a[word]) ? 'narrowed' : 'widened', path, what }
    else yield { direction: 'unknown', path, what }
  }
}

/** Options that are equal are left out of account; of the others, those of one type are compared with one another. */
function* comparedOptions(
  before: readonly JsonSchema[],
  after: readonly JsonSchema[],
  place: Place,
): Generator<Shift> {
  const texts = new Set(after.map(canonical))
  const oldTexts = new Set(before.map(canonical))
  // What refers to a definition may have changed with it.
  const isSame = (text: string, others: ReadonlySet<string>) => others.has(text) && !text.includes('"$ref"')
  const left = before.filter((option) => !isSame(canonical(option), texts))
  const right = after.filter((option) => !isSame(canonical(option), oldTexts))
  for (const option of left) {
    const kind = kindOf(option, place.before)
    const at = right.findIndex((each) => kindOf(each, place.after) === kind)
    if (at === -1)
      yield { direction: 'narrowed', path: place.path, what: `cannot be ${named(option)} any more` }
    else yield* compared(option, right.splice(at, 1)[0]!, place)
  }
  for (const option of right)
    yield { direction: 'widened', path: place.path, what: `can be ${named(option)} too` }
}

/** What tells an option from the others: its type, and the fields that have one fixed value. */
function kindOf(option: JsonSchema, root: JsonSchema): string {
  const schema = resolved(option, root) ?? {}
  const fixed = Object.entries(propertiesOf(schema)).filter(([, field]) => 'const' in field)
  const type = typeOf(schema)
  return canonical([
    type === 'integer' ? 'number' : type,
    fixed.map(([name, field]) => [name, field['const']]),
  ])
}

function named(option: JsonSchema): string {
  const values = valuesOf(option)
  return values === undefined
    ? typeof option['$ref'] === 'string'
      ? option['$ref']
      : typeOf(option)
    : listOf(values)
}

function optionsOf(schema: JsonSchema): readonly JsonSchema[] {
  const options = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(options)) return options.filter(isSchema)
  const { type } = schema
  return Array.isArray(type) ? type.map((each) => ({ ...schema, type: each as string })) : [schema]
}

function valuesOf(schema: JsonSchema): readonly unknown[] | undefined {
  if ('const' in schema) return [schema['const']]
  return Array.isArray(schema['enum']) ? schema['enum'] : undefined
}

function typeOf(schema: JsonSchema): string {
  if (typeof schema['type'] === 'string') return schema['type']
  return schema['properties'] === undefined ? 'anything' : 'object'
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  return typeof value === type && value !== null
}

function isObject(schema: JsonSchema): boolean {
  return typeOf(schema) === 'object'
}

function propertiesOf(schema: JsonSchema): { readonly [name: string]: JsonSchema } {
  return (schema['properties'] ?? {}) as { readonly [name: string]: JsonSchema }
}

function requiredOf(schema: JsonSchema): ReadonlySet<string> {
  return new Set((schema['required'] ?? []) as readonly string[])
}

function own(fields: { readonly [name: string]: JsonSchema }, name: string): JsonSchema | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

function resolved(schema: JsonSchema, root: JsonSchema, depth = 0): JsonSchema | undefined {
  const { $ref: ref } = schema
  if (ref === undefined) return schema
  if (ref === '#') return root
  const name = typeof ref === 'string' ? /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(ref)?.[1] : undefined
  const found = ((root['$defs'] ?? root['definitions'] ?? {}) as { [name: string]: unknown })[name ?? '']
  return isSchema(found) && depth < 20 ? resolved(found, root, depth + 1) : undefined
}

/** A text that is equal for what is equal, in whatever order it was written. */
export function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_name, each: unknown) =>
      isSchema(each)
        ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : each,
    ) ?? 'undefined'
  )
}

function worded(value: unknown): string {
  return value === undefined ? 'not there' : canonical(value)
}

function listOf(values: readonly unknown[]): string {
  return values.map(canonical).join(', ')
}
