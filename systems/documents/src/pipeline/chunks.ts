import * as v from 'valibot'

const count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** A document's text in pieces: the value of `cache:doc:chunks:<documentUuid>`. */
export const Chunks = v.strictObject({
  document_uuid: v.string(),
  max_tokens: count,
  overlap_tokens: count,
  chunks: v.array(
    v.strictObject({
      index: count,
      /** Of the document's text, the part from `start` to `end`. */
      text: v.string(),
      start: count,
      end: count,
      token_count: count,
      first_page: v.nullable(count),
      last_page: v.nullable(count),
    }),
  ),
})

/** A document's text in pieces. */
export type Chunks = v.InferOutput<typeof Chunks>

/** One piece. */
export type Chunk = Chunks['chunks'][number]
