import type { ChangeCode } from './change.ts'
import { compareValues, type Shift } from './compare-value.ts'
import type { ManifestKey, ManifestValue } from './manifest.ts'

/** A difference between what stood in the values and what stands there now. */
export interface ValueChange {
  readonly code: ChangeCode
  readonly message: string
  readonly direction: Shift['direction']
}

/** Every such difference of one pattern: of its type, or of its codecs and JSON Schemas. */
export function* valueChanges(old: ManifestKey, key: ManifestKey): Generator<ValueChange> {
  if (old.type !== key.type) {
    const message = `the type was ${old.type}, is ${key.type}: each program fails on the keys of the other`
    yield { code: 'type-changed', direction: 'unknown', message }
    return
  }
  if (old.value !== undefined && key.value !== undefined) yield* shifts(old.value, key.value, '')
  const [fields, nextFields] = [old.fields ?? {}, key.fields ?? {}]
  for (const [name, value] of Object.entries(fields)) {
    const next = nextFields[name] ?? nextFields['*']
    if (next !== undefined) yield* shifts(value, next, name)
    else
      yield {
        code: 'field-removed',
        // Whoever counted on it finds nothing; what is stored stays unread.
        direction: 'widened',
        message: `the field ${name} is gone, and readers of before look for it`,
      }
  }
  for (const [name, value] of Object.entries(nextFields)) {
    if (fields[name] !== undefined) continue
    if (fields['*'] !== undefined && name !== '*') yield* shifts(fields['*'], value, name)
    else yield { code: 'field-added', direction: 'compatible', message: `the field ${name} is new` }
  }
}

function* shifts(old: ManifestValue, now: ManifestValue, field: string): Generator<ValueChange> {
  const of = field === '' ? '' : ` of ${field}`
  if (old.codec !== now.codec) {
    const pair = `${old.codec} ${now.codec}`
    const direction =
      pair === 'integer number' ? 'widened' : pair === 'number integer' ? 'narrowed' : 'unknown'
    yield { code: 'codec-changed', direction, message: `the codec${of} was ${old.codec}, is ${now.codec}` }
    return
  }
  if (old.jsonSchema !== undefined && now.jsonSchema !== undefined) {
    for (const { direction, path, what } of compareValues(old.jsonSchema, now.jsonSchema)) {
      const place = [field, path].filter((each) => each !== '').join('.')
      yield { code: 'value-changed', direction, message: `${place === '' ? 'the value' : place}: ${what}` }
    }
  } else if (old.jsonSchema !== now.jsonSchema || old.note !== now.note) {
    const side = old.jsonSchema === undefined ? 'before' : 'now'
    const message = `the values${of} cannot be compared: there is no JSON Schema of those ${side}`
    yield { code: 'value-changed', direction: 'unknown', message }
  }
}
