import * as v from 'valibot'

const offset = v.pipe(v.number(), v.integer(), v.minValue(0))

/** What can be named. */
export const EntityType = v.picklist(['PERSON', 'ORG', 'DATE', 'MONEY', 'LOCATION'])

/** What can be named. */
export type EntityType = v.InferOutput<typeof EntityType>

/** One place at which a document names something. */
export const Mention = v.strictObject({
  mention_id: v.string(),
  type: EntityType,
  /** As it stands in the document, on one line. */
  text: v.string(),
  /** The name as it is compared: `2024-01-30`, `USD 1250000`, or the words alone. */
  normal: v.string(),
  /** In the document's text. */
  start: offset,
  end: offset,
  /** The first piece that holds it. */
  chunk_index: offset,
  /** Which rule found it. */
  rule: v.picklist(['date', 'money', 'designator', 'acronym', 'title', 'repeat', 'gazetteer', 'lexicon']),
})

/** One place at which a document names something. */
export type Mention = v.InferOutput<typeof Mention>

/** All that a document names: the value of `cache:doc:all_extracted_mentions:<documentUuid>`. */
export const ExtractedMentions = v.strictObject({ document_uuid: v.string(), mentions: v.array(Mention) })

/** All that a document names. */
export type ExtractedMentions = v.InferOutput<typeof ExtractedMentions>

/** What a rule finds, before it is a mention. */
export interface Found {
  readonly type: EntityType
  readonly rule: Mention['rule']
  readonly normal: string
  readonly start: number
  readonly end: number
}
