/**
 * Tells what a value would lose as JSON: nothing (`undefined`), a reason why it must not be written, or `'changed'` if it
 * is written in a form of its own making (`toJSON`, a property that is `undefined`) and the schema should see that form.
 * The value has gone through `JSON.stringify` before, so it does not refer to itself.
 */
export function lossOf(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      return Number.isFinite(value)
        ? undefined
        : 'it holds a number that is not finite, which JSON has no form for'
    case 'object':
      return value === null ? undefined : Array.isArray(value) ? ofItems(value) : ofObject(value)
    case 'bigint':
      return 'toJSON' in BigInt.prototype ? 'changed' : 'it holds a bigint, which JSON has no form for'
    case 'undefined':
      return 'it holds undefined in an array, which JSON would make null'
    default:
      return `it holds a ${typeof value}, which JSON has no form for`
  }
}

function ofItems(items: readonly unknown[]): string | undefined {
  let found: string | undefined
  for (let at = 0; at < items.length; at += 1) {
    const loss = lossOf(items[at])
    if (loss === undefined) continue
    if (loss !== 'changed') return loss
    found = loss
  }
  return found
}

function ofObject(value: object): string | undefined {
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') {
    return value instanceof Date && Number.isNaN(value.getTime()) ? 'it holds an invalid Date' : 'changed'
  }
  const prototype = Object.getPrototypeOf(value) as object | null
  // An object of another realm has another root.
  const plain =
    prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
  const names = Object.keys(value)
  // A Map, a Set, a RegExp, a Promise: what they hold is in no property.
  if (!plain && (names.length === 0 || ArrayBuffer.isView(value)))
    return 'it holds an object whose contents JSON has no form for, such as a Map, a Set or a typed array'
  let found = plain ? undefined : 'changed'
  for (const name of names) {
    const inner = (value as Record<string, unknown>)[name]
    const loss = inner === undefined ? 'changed' : lossOf(inner)
    if (loss === undefined) continue
    if (loss !== 'changed') return loss
    found = loss
  }
  return found
}
