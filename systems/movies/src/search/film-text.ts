import type { Film } from '../catalogue/film.ts'
import type { Channel } from '../understanding/query-understanding.ts'
import { genres } from '../understanding/genre.ts'

/**
 * What a film says to each channel, made from the catalogue's facts in the words that queries use. The catalogue has no
 * plots, so the plot channel reads what the anchor reads. Films with the same facts say the same, and share a vector.
 */
export function filmTexts(film: Film): Record<Channel | 'anchor', string> {
  const known = genres.filter(({ name }) => film.genres.includes(name))
  const decade = `${Math.floor(film.year / 10) * 10}s`
  const anchor = words(film.title, film.year, film.genres, film.director, film.distributor, film.creativeType)
  return {
    anchor,
    plot_events: anchor,
    plot_analysis: words(
      known.flatMap(({ name, themes }) => [name, themes]),
      film.creativeType,
    ),
    viewer_experience: words(known.map(({ feels }) => feels)),
    watch_context: words(audienceOf(film), lengthOf(film)),
    narrative_techniques: words(film.source, sourceWords[film.source ?? ''], film.creativeType),
    production: words(film.director, film.distributor, budgetOf(film), decade),
    reception: words(criticsOf(film), viewersOf(film), earningsOf(film)),
  }
}

function words(...parts: readonly (string | number | undefined | readonly string[])[]): string {
  return (
    parts
      .flat()
      .filter((part) => part !== undefined && part !== '')
      .join(' ') || 'unknown'
  )
}

const sourceWords: Readonly<Record<string, string>> = {
  'Based on Book/Short Story': 'adaptation of a novel',
  'Based on Real Life Events': 'true story',
  Remake: 'remake of an earlier film',
}

function audienceOf({ maturity, genres: has }: Film): string {
  if (maturity === 'G' || maturity === 'PG') return 'for children and the whole family'
  if (has.includes('Romance')) return 'date night for couples'
  if (maturity === 'R' || maturity === 'NC-17') return 'late at night for adults'
  return has.includes('Comedy') ? 'a party with friends' : 'for an evening'
}

function lengthOf({ runtimeMinutes }: Film): string | undefined {
  if (runtimeMinutes === undefined) return undefined
  if (runtimeMinutes < 95) return 'short for an evening after work'
  return runtimeMinutes > 140 ? 'long for a rainy weekend' : undefined
}

function budgetOf({ budgetDollars }: Film): string | undefined {
  if (budgetDollars === undefined) return undefined
  if (budgetDollars >= 80e6) return 'very expensive big budget'
  return budgetDollars < 8e6 ? 'low budget independent' : undefined
}

function criticsOf({ criticsPercent }: Film): string | undefined {
  if (criticsPercent === undefined) return undefined
  if (criticsPercent >= 90) return 'loved by critics acclaimed masterpiece'
  if (criticsPercent >= 70) return 'loved by critics'
  return criticsPercent < 30 ? 'panned by critics' : undefined
}

function viewersOf({ rating, votes }: Film): string | undefined {
  if (rating === undefined) return undefined
  const heard = (votes ?? 0) < 5000 ? 'few votes overlooked' : undefined
  return words(rating >= 7.5 ? 'well rated by viewers' : rating < 5 ? 'badly rated' : undefined, heard)
}

function earningsOf({ grossDollars, budgetDollars }: Film): string | undefined {
  if (grossDollars === undefined || budgetDollars === undefined) return undefined
  if (grossDollars >= 200e6) return 'earned very much hit'
  return grossDollars < budgetDollars / 2 ? 'lost money flop' : undefined
}
