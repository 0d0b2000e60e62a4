import { genres, type Genre } from './genre.ts'
import { howLongOf } from './how-long.ts'
import { mentionsOf, without, type Mention } from './phrase.ts'
import type { MetadataPreferences } from './query-understanding.ts'
import { whenOf } from './when.ts'

/** What a query says about the facts of a film, and what is left of it. */
export interface Preferences {
  readonly metadata: MetadataPreferences
  readonly genres: readonly Genre[]
  /** The query without dates, running times, languages, services and ratings. */
  readonly rest: string
}

/** Reads everything that the catalogue could decide by itself. */
export function preferencesOf(query: string): Preferences {
  const when = whenOf(query)
  const undated = without(query, when.mentions)
  const howLong = howLongOf(undated)
  const untimed = without(undated, howLong.mentions)
  const told = genres.map((genre) => ({ genre, mentions: mentionsOf(untimed, genre.said) }))
  const included = told.filter(({ mentions }) => mentions.some(({ isNegated }) => !isNegated))
  const excluded = told.filter(({ mentions }) => mentions.some(({ isNegated }) => isNegated))
  const languages = listed(untimed, languageWords, /^in\s|\slanguage$|-language$/gi)
  const providers = listed(untimed, providerWords, /^on\s+/gi)
  const ratings = mentionsOf(untimed, ratingWords)
  const says = (phrases: readonly string[]) =>
    mentionsOf(untimed, phrases).some(({ isNegated }) => !isNegated)
  const metadata: MetadataPreferences = {
    release_date_preference: when.preference,
    duration_preference: howLong.preference,
    genres_preference: choice(
      included.map(({ genre }) => genre.name),
      excluded.map(({ genre }) => genre.name),
    ),
    audio_languages_preference: languages.preference,
    watch_providers_preference: providers.preference,
    maturity_rating_preference: { result: maturityOf(ratings[0]?.phrase, says(forChildren)) },
    popular_trending_preference: {
      prefers_trending_movies: says(trending),
      prefers_popular_movies: says(popular),
    },
    reception_preference: {
      reception_type: says(acclaimed)
        ? 'critically_acclaimed'
        : says(poor)
          ? 'poorly_received'
          : 'no_preference',
    },
  }
  const negated = excluded.flatMap(({ mentions }) => mentions.filter(({ isNegated }) => isNegated))
  const taken = [
    ...languages.mentions,
    ...providers.mentions,
    ...ratings,
    ...negated,
    ...mentionsOf(untimed, trending),
  ]
  return { metadata, genres: included.map(({ genre }) => genre), rest: without(untimed, taken) }
}

const trending = [
  'trending',
  'right now',
  'this week',
  'everyone is watching',
  'everybody is watching',
  'buzz',
]
const popular = [
  'popular',
  'famous',
  'well known',
  'blockbuster',
  'blockbusters',
  'hit',
  'hits',
  'biggest',
  'trending',
]
const acclaimed = (
  'critically acclaimed|acclaimed|award winning|oscar|masterpiece|masterpieces|best|' +
  'greatest|highly rated|top rated|well reviewed|great reviews'
).split('|')
const poor = [
  'worst',
  'terrible',
  'awful',
  'bad',
  'so bad',
  'poorly received',
  'panned',
  'flop',
  'flops',
  'trashy',
]
const forChildren = [
  'for kids',
  'for children',
  'for the kids',
  'with kids',
  'with my kids',
  'family friendly',
  'family night',
]
const ratingWords = ['rated r', 'r rated', 'pg 13', 'rated pg', 'rated g', 'nc 17']
const providerWords = [
  'Netflix',
  'Amazon Prime',
  'Prime Video',
  'Hulu',
  'Disney+',
  'HBO Max',
  'Apple TV',
].flatMap((name) => [`on ${name}`])
const languageWords = [
  'English',
  'French',
  'Spanish',
  'German',
  'Italian',
  'Japanese',
  'Korean',
  'Chinese',
  'Hindi',
].flatMap((name) => [`in ${name}`, `${name} language`])

function choice(
  include: readonly string[],
  exclude: readonly string[],
): MetadataPreferences['genres_preference'] {
  if (include.length === 0 && exclude.length === 0) return { result: null }
  return {
    result: {
      should_include: [...include],
      should_exclude: exclude.filter((name) => !include.includes(name)),
    },
  }
}

function listed(query: string, phrases: readonly string[], frame: RegExp) {
  const mentions: readonly Mention[] = mentionsOf(query, phrases)
  const names = (isNegated: boolean) =>
    mentions
      .filter((mention) => mention.isNegated === isNegated)
      .map(({ phrase }) => phrase.replaceAll(frame, '').trim())
      .map((name) => name.charAt(0).toUpperCase() + name.slice(1))
  return { mentions, preference: choice(names(false), names(true)) }
}

function maturityOf(
  rating: string | undefined,
  isForChildren: boolean,
): MetadataPreferences['maturity_rating_preference']['result'] {
  if (rating === undefined) return isForChildren ? { rating: 'PG', match_operation: 'at_most' } : null
  const letters = rating.toUpperCase().replaceAll(/[^A-Z0-9]|RATED/g, '')
  const known = { R: 'R', PG13: 'PG-13', PG: 'PG', G: 'G', NC17: 'NC-17' } as const
  return { rating: known[letters as keyof typeof known], match_operation: 'exact' }
}
