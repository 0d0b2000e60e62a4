import { normalised } from '../normalised.ts'
import { channels, type QueryUnderstanding } from '../understanding/query-understanding.ts'
import type { VectorChannel } from './vector-index.ts'

/** The texts to embed for a request: the query as it was written, and each subquery that is not null. */
export function textsToEmbed(query: string, understanding: QueryUnderstanding): Map<VectorChannel, string> {
  const texts = new Map<VectorChannel, string>([['anchor', normalised(query)]])
  for (const channel of channels) {
    const text = normalised(understanding.vector_subqueries[`${channel}_data`].relevant_subquery_text ?? '')
    if (text !== '') texts.set(channel, text)
  }
  return texts
}
