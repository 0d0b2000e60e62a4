import * as v from 'valibot'

import { maturities, type Film, type Maturity } from './film.ts'
import { repaired } from './mojibake.ts'

const text = v.nullable(v.string())
const number = v.nullable(v.number())

/** A film as the data set has it. */
export const RawFilm = v.object({
  Title: v.nullable(v.union([v.string(), v.number()])),
  'Worldwide Gross': number,
  'Production Budget': number,
  'Release Date': v.pipe(v.string(), v.regex(/^[A-Z][a-z]{2} \d\d \d{4}$/)),
  'MPAA Rating': text,
  'Running Time min': number,
  Distributor: text,
  Source: text,
  'Major Genre': text,
  'Creative Type': text,
  Director: text,
  'Rotten Tomatoes Rating': number,
  'IMDB Rating': number,
  'IMDB Votes': number,
})

/** A film as the data set has it. */
export type RawFilm = v.InferOutput<typeof RawFilm>

/**
 * The film behind a row of the data set, which is dirty on purpose: numbers for titles (`300`), years a century ahead
 * (`2027` is 1927), damaged accents, double spaces, zeros for "not reported", ratings that are none (`Open`).
 */
export function filmOf(raw: RawFilm, id: number): Film {
  const releaseDate = dateOf(raw['Release Date'])
  const year = Number(releaseDate.slice(0, 4))
  return {
    id,
    // One film of 2006 has lost its title.
    title: tidy(raw.Title === null ? undefined : String(raw.Title)) ?? `Untitled (${year})`,
    releaseDate,
    year,
    genres: genresOf(raw),
    director: tidy(raw.Director),
    distributor: tidy(raw.Distributor),
    source: tidy(raw.Source),
    creativeType: tidy(raw['Creative Type']),
    maturity: maturities.find((each): each is Maturity => each === raw['MPAA Rating']),
    runtimeMinutes: reported(raw['Running Time min']),
    criticsPercent: raw['Rotten Tomatoes Rating'] ?? undefined,
    rating: raw['IMDB Rating'] ?? undefined,
    votes: raw['IMDB Votes'] ?? undefined,
    budgetDollars: reported(raw['Production Budget']),
    grossDollars: reported(raw['Worldwide Gross']),
  }
}

function tidy(value: string | null | undefined): string | undefined {
  const tidied = repaired(value ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return tidied === '' ? undefined : tidied
}

function reported(value: number | null): number | undefined {
  return value === null || value <= 0 ? undefined : value
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

// The data ends in 2011; years with two digits were once read into the wrong century.
const LAST_YEAR = 2011

function dateOf(written: string): string {
  const [month, day, year] = written.split(' ')
  const number = months.indexOf(month!) + 1
  if (number === 0) throw new RangeError(`"${written}" is not a date`)
  const century = Number(year) > LAST_YEAR ? Number(year) - 100 : Number(year)
  return `${century}-${String(number).padStart(2, '0')}-${day}`
}

const ofMajorGenre: Readonly<Record<string, readonly string[]>> = {
  'Thriller/Suspense': ['Thriller'],
  'Romantic Comedy': ['Romance', 'Comedy'],
  'Black Comedy': ['Comedy', 'Black Comedy'],
  'Concert/Performance': ['Concert'],
}

const ofCreativeType: Readonly<Record<string, string>> = {
  'Science Fiction': 'Science Fiction',
  Fantasy: 'Fantasy',
  'Historical Fiction': 'History',
  'Kids Fiction': 'Family',
  'Super Hero': 'Superhero',
}

function genresOf(raw: RawFilm): string[] {
  const major = raw['Major Genre']
  const creative = ofCreativeType[raw['Creative Type'] ?? '']
  const majors = major === null ? [] : (ofMajorGenre[major] ?? [major])
  return creative === undefined ? [...majors] : [...majors, creative]
}
