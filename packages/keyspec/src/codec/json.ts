import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type Codec, textCodec } from './codec.ts'

/**
 * JSON (RFC 8259), validated by any Standard Schema (valibot, zod, arktype, …) on write and on read.
 * What is written is the value as given; what is read is what the schema makes of it (defaults, transforms).
 */
export function json<S extends StandardSchemaV1>(
  schema: S,
): Codec<StandardSchemaV1.InferOutput<S>, StandardSchemaV1.InferInput<S>> {
  // Once: some libraries make it anew each time it is asked for.
  const standard = schema['~standard'] as StandardSchemaV1<
    unknown,
    StandardSchemaV1.InferOutput<S>
  >['~standard']
  return textCodec({
    name: 'json',
    schema,
    encode(value) {
      validate(standard, value)
      const stored = JSON.stringify(value) as string | undefined
      if (stored === undefined) throw new TypeError(`${typeof value} has no JSON form`)
      return stored
    },
    decode: (stored) => validate(standard, JSON.parse(stored)),
  })
}

function validate<T>(standard: StandardSchemaV1<unknown, T>['~standard'], value: unknown): T {
  const result = standard.validate(value)
  if (result instanceof Promise)
    throw new TypeError('the schema validates asynchronously; a codec cannot wait')
  if (result.issues !== undefined) throw new TypeError(result.issues.map(describe).join('; '))
  return result.value
}

function describe({ path, message }: StandardSchemaV1.Issue): string {
  if (path === undefined || path.length === 0) return message
  return `${path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.')}: ${message}`
}
