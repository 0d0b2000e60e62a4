import * as v from 'valibot'

/** What a batch is made of, written once when it begins: the value of `batch:manifest:<batchId>`. */
export const BatchManifest = v.pipe(
  v.strictObject({
    batch_id: v.pipe(v.string(), v.nonEmpty()),
    created_at: v.pipe(v.string(), v.isoTimestamp()),
    documents: v.array(
      v.strictObject({
        document_uuid: v.pipe(v.string(), v.nonEmpty()),
        name: v.string(),
        media_type: v.picklist(['application/pdf', 'text/plain']),
        bytes: v.pipe(v.number(), v.integer(), v.minValue(0)),
      }),
    ),
  }),
  // Two jobs on one document would write over each other.
  v.check(
    ({ documents }) => new Set(documents.map(({ document_uuid }) => document_uuid)).size === documents.length,
    'a document stands twice in the manifest',
  ),
)

/** What a batch is made of. */
export type BatchManifest = v.InferOutput<typeof BatchManifest>
