import * as v from 'valibot'

/** The seven vector channels, as the stored blob names them without `_data`. */
export const channels = [
  'plot_events',
  'plot_analysis',
  'viewer_experience',
  'watch_context',
  'narrative_techniques',
  'production',
  'reception',
] as const

/** One of the seven vector channels. */
export type Channel = (typeof channels)[number]

/** How much something matters. */
export const Relevance = v.picklist(['not_relevant', 'small', 'medium', 'large'])
/** How much something matters. */
export type Relevance = v.InferOutput<typeof Relevance>

/** How much each of the three ways to score counts in the end. */
export const ChannelWeights = v.strictObject({
  lexical_relevance: Relevance,
  metadata_relevance: Relevance,
  vector_relevance: Relevance,
})

/** A name in the query: as the user wrote it, and as the catalogue would. */
export const EntityCandidate = v.strictObject({
  candidate_entity_phrase: v.string(),
  most_likely_category: v.picklist(['movie_title', 'person', 'character', 'studio', 'franchise']),
  exclude_from_results: v.boolean(),
  corrected_and_normalized_entity: v.string(),
})
/** A name in the query: as the user wrote it, and as the catalogue would. */
export type EntityCandidate = v.InferOutput<typeof EntityCandidate>

/** The names in the query. */
export const LexicalEntities = v.strictObject({ entity_candidates: v.array(EntityCandidate) })

const day = v.pipe(v.string(), v.isoDate('must be YYYY-MM-DD'))
const names = v.array(v.string())
const wanted = <S extends v.GenericSchema>(result: S) => v.strictObject({ result: v.nullable(result) })
const choice = v.strictObject({ should_include: names, should_exclude: names })

/** When the film came out; `between` includes both days, `before` and `after` leave their day out. */
const ReleaseDatePreference = wanted(
  v.strictObject({
    first_date: day,
    match_operation: v.picklist(['exact', 'before', 'after', 'between']),
    second_date: v.nullable(day),
  }),
)

/** Minutes. The document shows only null here: this shape follows that of the release date. */
const DurationPreference = wanted(
  v.strictObject({
    first_minutes: v.pipe(v.number(), v.integer(), v.minValue(1)),
    match_operation: v.picklist(['exact', 'less_than', 'greater_than', 'between']),
    second_minutes: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1))),
  }),
)

/** Genres to look for and to leave out. */
const GenresPreference = wanted(choice)

/** Languages. The document shows only null here: this shape follows that of genres. */
const AudioLanguagesPreference = wanted(choice)

/** Services. The document shows only null here: this shape follows that of genres. */
const WatchProvidersPreference = wanted(choice)

/** American ratings. The document shows only null here. */
const MaturityRatingPreference = wanted(
  v.strictObject({
    rating: v.picklist(['G', 'PG', 'PG-13', 'R', 'NC-17']),
    match_operation: v.picklist(['exact', 'at_most', 'at_least']),
  }),
)

/** Whether the query asks for what is trending, or for what is well known. */
const PopularTrendingPreference = v.strictObject({
  prefers_trending_movies: v.boolean(),
  prefers_popular_movies: v.boolean(),
})

/** What the critics should have thought. */
const ReceptionPreference = v.strictObject({
  reception_type: v.picklist(['no_preference', 'critically_acclaimed', 'poorly_received']),
})

/** The facts of a film that the query asks for. */
export const MetadataPreferences = v.strictObject({
  release_date_preference: ReleaseDatePreference,
  duration_preference: DurationPreference,
  genres_preference: GenresPreference,
  audio_languages_preference: AudioLanguagesPreference,
  watch_providers_preference: WatchProvidersPreference,
  maturity_rating_preference: MaturityRatingPreference,
  popular_trending_preference: PopularTrendingPreference,
  reception_preference: ReceptionPreference,
})
/** The facts of a film that the query asks for. */
export type MetadataPreferences = v.InferOutput<typeof MetadataPreferences>

/** What to look for in one vector channel; null leaves the channel out. */
export const Subquery = v.strictObject({
  justification: v.string(),
  relevant_subquery_text: v.nullable(v.string()),
})
/** What to look for in one vector channel; null leaves the channel out. */
export type Subquery = v.InferOutput<typeof Subquery>

/** How much one vector channel counts. */
export const ChannelRelevance = v.strictObject({ relevance: Relevance, justification: v.string() })
/** How much one vector channel counts. */
export type ChannelRelevance = v.InferOutput<typeof ChannelRelevance>

/** The whole blob of `qu:v<N>:<queryHash>`; a field more or less needs another `N`, so none is let through. */
export const QueryUnderstanding = v.strictObject({
  channel_weights: ChannelWeights,
  lexical_entities: LexicalEntities,
  metadata_preferences: MetadataPreferences,
  vector_subqueries: ofEachChannel(Subquery),
  vector_weights: ofEachChannel(ChannelRelevance),
})
/** The whole blob of `qu:v<N>:<queryHash>`. */
export type QueryUnderstanding = v.InferOutput<typeof QueryUnderstanding>

function ofEachChannel<S extends v.GenericSchema>(schema: S) {
  return v.strictObject({
    plot_events_data: schema,
    plot_analysis_data: schema,
    viewer_experience_data: schema,
    watch_context_data: schema,
    narrative_techniques_data: schema,
    production_data: schema,
    reception_data: schema,
  })
}
