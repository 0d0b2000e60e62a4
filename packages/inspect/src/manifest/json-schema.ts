import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'

/** A JSON Schema (2020-12) as it is read here: the few words that are looked at, and whatever else stands there. */
export interface JsonSchema {
  readonly [word: string]: unknown
}

/**
 * The JSON Schema of what a schema takes, where its library offers Standard JSON Schema (zod does); `undefined` where it
 * does not. Throws what the library throws for a schema that has no such form.
 */
export function standardJsonSchema(schema: StandardSchemaV1): JsonSchema | undefined {
  const { jsonSchema } = schema['~standard'] as Partial<StandardJSONSchemaV1.Props>
  // What stands in Redis is the value as given, so what the schema takes rather than what it makes of it.
  return jsonSchema?.input({ target: 'draft-2020-12' })
}

/** Whether a value is a schema of its own, and not `true`, `false` or something else. */
export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
