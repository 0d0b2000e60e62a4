/** The cosine of the angle between two vectors of one length; 0 where either has no direction. */
export function cosine(one: ArrayLike<number>, other: ArrayLike<number>): number {
  if (one.length !== other.length) {
    throw new RangeError(`Vectors of ${one.length} and ${other.length} dimensions cannot be compared`)
  }
  let inner = 0
  let left = 0
  let right = 0
  for (let index = 0; index < one.length; index += 1) {
    const a = one[index]!
    const b = other[index]!
    inner += a * b
    left += a * a
    right += b * b
  }
  return left === 0 || right === 0 ? 0 : inner / Math.sqrt(left * right)
}
