import type { Span } from './sentence.ts'

/** Places that are known by name, with what they are also called. */
const known: Readonly<Record<string, readonly string[]>> = {
  'United States': ['United States of America', 'U.S.A.', 'U.S.', 'USA'],
  'United Kingdom': ['U.K.', 'UK', 'Great Britain'],
  'New York': ['New York City', 'N.Y.'],
  'Washington, D.C.': ['Washington D.C.', 'Washington, DC', 'Washington'],
}

const names = `Alabama Alaska Arizona Arkansas California Colorado Connecticut Delaware Florida Hawaii Idaho Illinois
Indiana Iowa Kansas Kentucky Louisiana Maine Maryland Massachusetts Michigan Minnesota Mississippi Missouri Montana
Nebraska Nevada Ohio Oklahoma Oregon Pennsylvania Tennessee Texas Utah Vermont Virginia Wisconsin Wyoming
New_Hampshire New_Jersey New_Mexico North_Carolina North_Dakota South_Carolina South_Dakota Rhode_Island West_Virginia
Boston Chicago Houston Philadelphia Phoenix Dallas Seattle Denver Atlanta Miami Detroit Baltimore Portland Los_Angeles
San_Francisco San_Diego New_Orleans London Glasgow Edinburgh Dublin Paris Berlin Hamburg Madrid Lisbon Porto Rome
Vienna Zurich Geneva Brussels Amsterdam Copenhagen Oslo Trondheim Stockholm Helsinki Warsaw Prague Athens Tokyo Seoul
Beijing Delhi Mumbai Lagos Nairobi Cairo Toronto Montreal Sydney Melbourne
Argentina Australia Austria Belgium Brazil Canada China Denmark England Finland France Germany Greece India Ireland
Italy Japan Kenya Mexico Netherlands Nigeria Norway Poland Portugal Scotland Spain Sweden Switzerland Ukraine Wales`

const aliases = new Map<string, string>([
  ...names.split(/\s+/).map((name) => [name.replace('_', ' '), name.replace('_', ' ')] as const),
  ...Object.entries(known).flatMap(([name, others]) =>
    [name, ...others].map((alias) => [alias, name] as const),
  ),
])

// The longest first, so that New York City is not New York.
const anyPlace = new RegExp(
  String.raw`(?<![\p{L}\p{N}.])(?:${[...aliases.keys()]
    .toSorted((a, b) => b.length - a.length)
    .map((alias) => alias.replaceAll('.', String.raw`\.`).replaceAll(' ', String.raw`\s+`))
    .join('|')})(?![\p{L}\p{N}])`,
  'gu',
)

// `Marrow Bay`, `Lisbon Street`: known by what they are.
const describedPlace =
  /(?<![\p{L}\p{N}])(?!The\s)(?:\p{Lu}\p{Ll}+\s+){1,2}(?:Bay|County|River|Island|Valley|Lake|Street|Avenue|Road|Row|Square)(?![\p{L}\p{N}])/gu

/** A place that a text names, and where it does. */
export interface PlaceFound extends Span {
  readonly place: string
}

/** The places that a text names; a known one by the name that stands for all its others. */
export function placesIn(text: string): PlaceFound[] {
  return [...text.matchAll(describedPlace), ...text.matchAll(anyPlace)].map((match) => ({
    place: placeOf(match[0]) ?? match[0].replaceAll(/\s+/g, ' '),
    start: match.index,
    end: match.index + match[0].length,
  }))
}

/** The name that stands for all names of a known place. */
export function placeOf(alias: string): string | undefined {
  return aliases.get(alias.replaceAll(/\s+/g, ' '))
}
