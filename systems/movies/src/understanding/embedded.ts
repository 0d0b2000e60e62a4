import { createHash } from 'node:crypto'

import { contentWordsOf } from '@keyspec-systems/model'

import type { Catalogue } from '../catalogue/catalogue.ts'
import { flavours } from './flavour.ts'
import { genres, type Genre } from './genre.ts'
import { namesOf, type Name } from './name.ts'
import { nameIndexOf } from './name-index.ts'
import { mentionsOf, without } from './phrase.ts'
import { preferencesOf } from './preference.ts'
import {
  channels,
  type Channel,
  type ChannelRelevance,
  type MetadataPreferences,
  type Relevance,
  type Subquery,
} from './query-understanding.ts'
import type { Understander } from './understander.ts'

/** Raised whenever a rule changes, so that nobody keeps what the old rules understood. */
const RULES = 1

/** A digest of the rules: it changes with any of them. */
export const rulesFingerprint = createHash('sha256')
  .update(JSON.stringify([RULES, genres, flavours]))
  .digest('hex')

/** Understands English queries by rules, from the catalogue's names and a small lexicon, without any network. */
export function embeddedUnderstander(catalogue: Catalogue): Understander {
  const index = nameIndexOf(catalogue)
  const genresOfTitle = (title: string) =>
    genres.filter(({ name }) => catalogue.films.find((film) => film.title === title)?.genres.includes(name))
  return {
    model: `embedded:rules-${RULES}`,
    fingerprint: rulesFingerprint,
    async understand(query) {
      const names = namesOf(query, index)
      const { metadata, genres: asked, rest } = preferencesOf(without(query, names))
      const examples = names.filter(({ isExample }) => isExample)
      const alike = examples.flatMap(({ candidate }) =>
        genresOfTitle(candidate.corrected_and_normalized_entity),
      )
      const texts = textsOf(rest, [...new Set([...asked, ...alike])], names)
      return {
        channel_weights: {
          lexical_relevance: names.some(({ candidate }) => !candidate.exclude_from_results)
            ? 'large'
            : 'not_relevant',
          metadata_relevance: relevanceOf(preferred(metadata)),
          vector_relevance: relevanceOf(texts.size + (texts.has('plot_events') ? 1 : 0)),
        },
        lexical_entities: { entity_candidates: names.map(({ candidate }) => candidate) },
        metadata_preferences: metadata,
        vector_subqueries: ofEachChannel((channel): Subquery => subquery(texts.get(channel))),
        vector_weights: ofEachChannel((channel): ChannelRelevance => weight(channel, texts)),
      }
    },
  }
}

/** What to look for in each channel that the query speaks to. */
function textsOf(rest: string, alike: readonly Genre[], names: readonly Name[]): Map<Channel, string> {
  const texts = new Map<Channel, string>()
  const say = (channel: Channel, text: string) => {
    if (text !== '') texts.set(channel, `${texts.get(channel) ?? ''} ${text}`.trim())
  }
  const spoken = flavours.map(({ channel, said, seeks }) => ({
    channel,
    seeks,
    mentions: mentionsOf(rest, said),
  }))
  for (const { channel, seeks = '', mentions } of spoken) {
    if (mentions.some(({ isNegated }) => !isNegated)) say(channel, seeks)
  }
  const genreMentions = mentionsOf(
    rest,
    genres.flatMap(({ said }) => said),
  )
  const flavoured = spoken.flatMap(({ mentions }) => mentions)
  const subject = without(rest, [...flavoured, ...genreMentions, ...mentionsOf(rest, filler)])
  const told = contentWordsOf(subject).length === 0 ? '' : subject
  say('plot_events', told)
  say('plot_analysis', [...alike.map(({ name, themes }) => `${name} ${themes}`), told].join(' ').trim())
  say('viewer_experience', alike.map(({ feels }) => feels).join(' '))
  const makers = names.filter(({ candidate }) => makersOf.has(candidate.most_likely_category))
  say('production', makers.map(({ candidate }) => candidate.corrected_and_normalized_entity).join(' '))
  return texts
}

const makersOf = new Set(['person', 'studio'])

const filler = (
  'movies|movie|films|film|flick|flicks|watch|show me|find|something|anything|looking|want|recommend|suggest|about|' +
  'directed|popular|famous|critically|similar|please|starring|really|well known|based on|but|highly|ones|set|story'
).split('|')

function preferred({
  reception_preference,
  popular_trending_preference,
  ...filters
}: MetadataPreferences): number {
  const flags = [
    reception_preference.reception_type !== 'no_preference',
    popular_trending_preference.prefers_popular_movies || popular_trending_preference.prefers_trending_movies,
    ...Object.values(filters).map(({ result }) => result !== null),
  ]
  return flags.filter(Boolean).length
}

function relevanceOf(count: number): Relevance {
  return (['not_relevant', 'medium', 'large'] as const)[Math.min(2, count)]!
}

function subquery(text: string | undefined): Subquery {
  if (text === undefined)
    return { justification: 'the query says nothing about this', relevant_subquery_text: null }
  return { justification: 'words of the query that speak to this', relevant_subquery_text: text }
}

function weight(channel: Channel, texts: ReadonlyMap<Channel, string>): ChannelRelevance {
  const text = texts.get(channel)
  if (text === undefined) return { relevance: 'not_relevant', justification: 'there is nothing to look for' }
  if (texts.size === 1)
    return { relevance: 'large', justification: 'the only channel that the query speaks to' }
  return channel === 'plot_analysis'
    ? { relevance: 'small', justification: 'follows from the genres' }
    : { relevance: 'medium', justification: 'one of several channels that the query speaks to' }
}

type DataKey = `${Channel}_data`

function ofEachChannel<T>(of: (channel: Channel) => T): Record<DataKey, T> {
  return Object.fromEntries(channels.map((channel) => [`${channel}_data`, of(channel)])) as Record<DataKey, T>
}
