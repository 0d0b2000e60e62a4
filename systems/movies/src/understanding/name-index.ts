import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Film } from '../catalogue/film.ts'

/** The names that the catalogue knows, by their folded form. */
export interface NameIndex {
  readonly titles: ReadonlyMap<string, readonly Film[]>
  /** Directors by full name and, where only one has it, by surname. */
  readonly people: ReadonlyMap<string, string>
  readonly studios: ReadonlyMap<string, string>
  readonly franchises: ReadonlyMap<string, string>
  /** Every word of every title. */
  readonly titleWords: ReadonlySet<string>
}

/** Collects the names of a catalogue. */
export function nameIndexOf({ films }: Catalogue): NameIndex {
  const titles = groupedBy(films, ({ title }) => folded(title))
  return {
    titles,
    people: peopleOf(films),
    studios: studiosOf(films),
    franchises: franchisesOf(films),
    titleWords: new Set([...titles.keys()].flatMap((title) => title.split(' '))),
  }
}

/** A name without case, accents and punctuation. */
export function folded(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
  return (plain.replaceAll(/['’]/g, '').match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')
}

function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}

function peopleOf(films: readonly Film[]): Map<string, string> {
  const directors = [...new Set(films.flatMap(({ director }) => director ?? []))]
  const bySurname = groupedBy(directors, (name) => folded(name).split(' ').at(-1)!)
  const people = new Map<string, string>()
  for (const [surname, [name, ...others]] of bySurname) if (others.length === 0) people.set(surname, name!)
  for (const name of directors) people.set(folded(name), name)
  return people
}

const shortForms: Readonly<Record<string, string>> = {
  disney: 'Walt Disney Pictures',
  paramount: 'Paramount Pictures',
  'warner brothers': 'Warner Bros.',
  fox: '20th Century Fox',
  sony: 'Sony Pictures',
  dreamworks: 'Dreamworks SKG',
}

function studiosOf(films: readonly Film[]): Map<string, string> {
  const studios = new Map(
    films.flatMap(({ distributor }) => (distributor ? [[folded(distributor), distributor]] : [])),
  )
  for (const [short, name] of Object.entries(shortForms))
    if (studios.has(folded(name))) studios.set(short, name)
  return studios
}

/** What stands before a number, a colon or the like in three titles or more: `Star Wars Ep. IV`, `Rocky II`. */
function franchisesOf(films: readonly Film[]): Map<string, string> {
  const starts = films.flatMap(({ title }) => {
    const end = title.slice(3).search(/:|\s(?:\d+\b|[IVX]+\b|Ep\.|Part\b|and the\b)/)
    return end < 0 ? [] : [title.slice(0, end + 3).trimEnd()]
  })
  const groups = groupedBy(starts, folded)
  return new Map([...groups].flatMap(([key, names]) => (names.length >= 3 ? [[key, names[0]!]] : [])))
}
