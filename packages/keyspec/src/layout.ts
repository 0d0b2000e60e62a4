import { SchemaError } from './errors.ts'
import { patternsOf, type Schema } from './schema.ts'

/** What a manifest says of layouts. A manifest that is imported from a JSON file fits, whatever else it says. */
export interface LayoutManifest {
  readonly entries: readonly {
    readonly entry: string
    readonly layout?: number
    readonly keys: readonly { readonly pattern: string; readonly renamedFrom: readonly string[] }[]
  }[]
}

/** How many layouts lie between two; a recipe whose manifest names none is at layout 1. */
export function layoutDistance(before: number | undefined, now: number | undefined): number {
  return (now ?? 1) - (before ?? 1)
}

/**
 * Throws a `SchemaError` if an entry of the schema cannot run beside the programs of a manifest: they keep data under one
 * pattern, old names included, and their layouts are no neighbours. The prefix does not count: it names a server's keyspace,
 * and the programs are the same in all of them.
 */
export function validateLayouts(schema: Schema, beside: LayoutManifest): void {
  const theirs = new Map(
    beside.entries.flatMap(({ entry, layout, keys }) =>
      keys.flatMap(({ pattern, renamedFrom }) =>
        [pattern, ...renamedFrom].map((text) => [shapeOf(text), { entry, layout }] as const),
      ),
    ),
  )
  const messages = new Map<string, string>()
  for (const { entry, kind, pattern } of patternsOf(schema)) {
    const there = theirs.get(shapeOf(pattern.text))
    if (kind.layout === undefined || there === undefined || messages.has(entry)) continue
    const distance = layoutDistance(there.layout, kind.layout)
    if (Math.abs(distance) < 2) continue
    messages.set(
      entry,
      `${entry} ("${pattern.text}") keeps its data in layout ${kind.layout}, and the manifest's programs keep it in layout ` +
        `${there.layout ?? 1} (${there.entry}): only neighbouring layouts may run together; ${stepBetween(distance)}`,
    )
  }
  if (messages.size > 0) throw new SchemaError([...messages.values()].join('\n'))
}

/** The way from one layout to another that is no neighbour. */
export function stepBetween(distance: number): string {
  const version = distance > 0 ? 'older' : 'newer'
  return `release each layout in between everywhere first, with the ${version} versions of Keyspec that have it`
}

/** A pattern without the names of its placeholders: the form of its keys. */
export function shapeOf(pattern: string): string {
  return pattern.replaceAll(/<[^<*>]*(\*?)>/g, '<>')
}
