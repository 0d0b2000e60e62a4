import { contentWordsOf, cosine, type Embedder } from '@keyspec-systems/model'

import { instantOf } from '../shape/instant.ts'
import type { AbcrDecision, Anchor } from '../shape/topic.ts'
import type { Embed } from './anchor.ts'

/** The score from which a question belongs to the topic. */
export const RELATEDNESS_THRESHOLD = 0.65

/** What a decision is made from. */
export interface DecisionMaterial {
  readonly question: string
  readonly anchor: Anchor
  /** How the cosines of the embedder behind `embed` are to be read. */
  readonly cosines: Embedder['cosines']
  readonly embed: Embed
  /** From the session's configuration; 0.65 unless told. */
  readonly threshold?: number
  readonly now?: Date
  readonly signal?: AbortSignal
}

/**
 * Decides whether a question belongs to the anchored topic (attention-based context routing).
 *
 * A cosine c is read as s(c) = (c - unrelated) / (related - unrelated), held between 0 and 1, with the embedder's two
 * marks, since cosines of one model mean nothing to another.
 *
 * - `similarity_score`: s of the question's cosine with the topic's vector.
 * - `attention_score`: the question attends to the topic's facets (title, seed, scope, names) with softmax weights of
 *   their cosines, as in scaled dot-product attention (Vaswani et al., 2017) at temperature 0.05; the score is s of the
 *   weighted mean, so one facet that fits outweighs many that do not.
 * - `combined_score`: their mean; the question is `related` from the threshold on. All are rounded to two decimals.
 *
 * A question without content words ("And then?") goes on about the topic, so it is read together with its title.
 */
export async function decide(material: DecisionMaterial): Promise<AbcrDecision> {
  const { anchor, cosines, embed, threshold = RELATEDNESS_THRESHOLD, now = new Date(), signal } = material
  const isFollowUp = contentWordsOf(material.question).length === 0
  const question = isFollowUp ? `${anchor.canonical_title} ${material.question}` : material.question
  const facets = facetsOf(anchor)
  const [asked, ...vectors] = await embed([question, ...facets], signal)
  const read = (value: number) => clamped((value - cosines.unrelated) / (cosines.related - cosines.unrelated))
  const similarity = rounded(read(cosine(asked!, anchor.topic_embedding)))
  const attention = rounded(read(attended(vectors.map((vector) => cosine(asked!, vector)))))
  const combined = rounded((similarity + attention) / 2)
  return {
    decision: combined >= threshold ? 'related' : 'unrelated',
    attention_score: attention,
    similarity_score: similarity,
    combined_score: combined,
    computed_at: instantOf(now),
  }
}

/** The texts by which a topic is known, each once. */
export function facetsOf(anchor: Anchor): string[] {
  const facets = [
    anchor.canonical_title,
    anchor.canonical_seed,
    ...anchor.subject_scope,
    ...anchor.locked_entities,
  ]
  return [...new Set(facets.map((facet) => facet.trim()).filter((facet) => facet !== ''))]
}

const TEMPERATURE = 0.05

function attended(values: readonly number[]): number {
  const best = Math.max(...values)
  let weights = 0
  let sum = 0
  for (const value of values) {
    const weight = Math.exp((value - best) / TEMPERATURE)
    weights += weight
    sum += weight * value
  }
  return sum / weights
}

function clamped(value: number): number {
  return Math.min(1, Math.max(0, value))
}

/** Two decimals, half up; the nudge undoes that 0.715 is stored as a little less. */
function rounded(value: number): number {
  return Math.round(value * 100 + 1e-9) / 100
}
