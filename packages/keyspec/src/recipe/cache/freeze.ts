const DEEPEST = 64

/**
 * Freezes a value all through where that keeps anybody from changing it: primitives, arrays and plain objects of them.
 * Answers whether it did; anything else (dates, typed arrays, maps, instances of a class) is left as it is, whole.
 */
export function freeze(value: unknown): boolean {
  if (!isPlain(value, 0)) return false
  freezeAll(value)
  return true
}

function isPlain(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function'
  if (depth === DEEPEST) return false
  if (!Array.isArray(value)) {
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) return false
  }
  return Object.values(value).every((inner) => isPlain(inner, depth + 1))
}

function freezeAll(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const inner of Object.values(value)) freezeAll(inner)
  Object.freeze(value)
}
