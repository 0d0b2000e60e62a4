import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type Codec, textCodec } from './codec.ts'
import { lossOf } from './lossless.ts'
import { unquoted, vouched } from '../unquoted.ts'

/**
 * JSON (RFC 8259), validated by any Standard Schema (valibot, zod, arktype, …) on write and on read.
 * What is written is the value as given; what is read is what the schema makes of it (defaults, transforms).
 *
 * A value that JSON cannot hold is refused on write: NaN and the infinities, a bigint, a function, a hole or `undefined`
 * in an array, a `Map`, a `Set`, typed arrays, an invalid `Date`. A valid `Date`, or any object with `toJSON`, is written
 * only if the schema accepts its JSON form too. A property that is `undefined` is left out, and −0 is written as 0.
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
      const stored = stringify(value)
      const loss = lossOf(value)
      if (loss === 'changed') readBack(standard, stored)
      else if (loss !== undefined) throw new TypeError(loss)
      return stored
    },
    decode: (stored) => validate(standard, parse(stored)),
  })
}

function stringify(value: unknown): string {
  let stored: string | undefined
  try {
    stored = JSON.stringify(value) as string | undefined
  } catch (error) {
    const isCircular = error instanceof TypeError && error.message.includes('circular')
    // oxlint-disable-next-line preserve-caught-error -- its words may quote the value
    throw new TypeError(isCircular ? 'it refers to itself' : 'it holds what has no JSON form')
  }
  if (stored === undefined) throw new TypeError(`a ${typeof value} has no JSON form`)
  return stored
}

// The engine's own message quotes the text.
function parse(stored: string): unknown {
  try {
    return JSON.parse(stored)
  } catch (error) {
    const place = /at position \d+/.exec(String(error))?.[0]
    // oxlint-disable-next-line preserve-caught-error -- its words quote the text
    throw new TypeError(
      `it is not valid JSON (${place === undefined ? '' : `${place} of `}${stored.length} characters)`,
    )
  }
}

function readBack(standard: StandardSchemaV1['~standard'], stored: string): void {
  try {
    validate(standard, JSON.parse(stored))
  } catch (error) {
    throw vouched(
      new TypeError(`its JSON form would be refused when read: ${(error as Error).message}`, {
        cause: error,
      }),
    )
  }
}

function validate<T>(standard: StandardSchemaV1<unknown, T>['~standard'], value: unknown): T {
  const result = standard.validate(value)
  if (result instanceof Promise)
    throw new TypeError('the schema validates asynchronously; a codec cannot wait')
  if (result.issues !== undefined)
    throw vouched(new TypeError(result.issues.map((issue) => describe(issue, value)).join('; ')))
  return result.value
}

function describe({ path, message }: StandardSchemaV1.Issue, value: unknown): string {
  const words = unquoted(message, value) ?? 'is not what the schema allows'
  if (path === undefined || path.length === 0) return words
  return `${path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.')}: ${words}`
}
