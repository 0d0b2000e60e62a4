import * as v from 'valibot'

const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const pageNumber = v.pipe(v.number(), v.integer(), v.minValue(1))

/** Where a page's text came from; `needs-ocr` is a page that shows something, of which no text could be had. */
export const TextSource = v.picklist(['text', 'ocr', 'blank', 'needs-ocr'])

/** The text of a document, page after page: the value of `cache:doc:ocr_result:<documentUuid>`. */
export const OcrResult = v.strictObject({
  document_uuid: v.string(),
  name: v.string(),
  media_type: v.picklist(['application/pdf', 'text/plain']),
  text: v.string(),
  pages: v.array(
    v.strictObject({
      page: pageNumber,
      /** The page's text is `text.slice(start, end)`. */
      start: count,
      end: count,
      source: TextSource,
    }),
  ),
  /** The pages whose text is still missing; empty when the document is read whole. */
  pages_needing_ocr: v.array(pageNumber),
})

/** The text of a document, page after page. */
export type OcrResult = v.InferOutput<typeof OcrResult>

/** Where a page's text came from. */
export type TextSource = v.InferOutput<typeof TextSource>
