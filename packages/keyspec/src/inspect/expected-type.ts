import type { RedisType } from '../kind/kind.ts'
import type { Owned } from '../schema.ts'

/** The type that a key of this pattern should have; `undefined` where the program that owns it is not known to keep such a key. */
export function expectedType({ spec, pattern }: Owned, key: string): RedisType | undefined {
  if (spec.foreign === undefined) return spec.type === 'various' ? undefined : spec.type
  const texts = pattern.parse(key)
  return texts === undefined ? undefined : spec.foreign.describe(texts)?.type
}
