import { canonicalize } from './canonicalize.ts'
import { chunkText } from './chunk.ts'
import { extractMentions } from './extract-mentions.ts'
import { pagesOfPdf, pagesOfText } from './read-pages.ts'
import { resolveMentions } from './resolve-mentions.ts'

/** What a process that reads can be asked for: whatever takes a document's own words apart. */
export const tasks = {
  pdf: pagesOfPdf,
  text: pagesOfText,
  chunks: chunkText,
  mentions: extractMentions,
  entities: canonicalize,
  resolved: resolveMentions,
}
