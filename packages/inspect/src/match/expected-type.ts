import type { OwnedPattern, RedisType } from 'keyspec/extend'

/** The type that a key of this pattern should have; `undefined` where the program that owns it is not known to keep such a key. */
export function expectedType({ spec, pattern }: OwnedPattern, key: string): RedisType | undefined {
  if (spec.external === undefined) return spec.type === 'various' ? undefined : spec.type
  const texts = pattern.parse(key)
  return texts === undefined ? undefined : spec.external.describe(texts)?.type
}
