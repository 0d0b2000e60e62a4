import { layoutDistance, shapeOf, stepBetween } from 'keyspec/extend'
import type { Change } from './change.ts'
import type { ManifestKey } from './manifest.ts'

/** One pattern of a manifest, with its entry and the layout of that entry. */
export interface Place {
  readonly entry: string
  readonly layout: number | undefined
  readonly key: ManifestKey
}

/** A change of layout, once for each entry, if both manifests keep data under the same keys. */
export function layoutChanges(pairs: readonly (readonly [Place, Place])[]): Change[] {
  const changes = new Map<string, Change>()
  for (const [old, now] of pairs) {
    const { entry, layout, key } = now
    const sharesKeys =
      shapeOf(old.key.pattern) === shapeOf(key.pattern) || key.renamedFrom.includes(old.key.pattern)
    const distance = layoutDistance(old.layout, layout)
    // What is no recipe any more has another type or codec, which is a change of its own.
    if (!sharesKeys || layout === undefined || distance === 0 || changes.has(entry)) continue
    const message = `the data was in layout ${old.layout ?? 1}, is in layout ${layout}`
    const change = { code: 'layout-changed', entry, pattern: key.pattern } as const
    changes.set(
      entry,
      Math.abs(distance) === 1
        ? { ...change, impact: 'safe', message: `${message}: programs of both may run together` }
        : {
            ...change,
            impact: 'breaks',
            message: `${message}: programs of both misread what the other writes`,
            advice: stepBetween(distance),
          },
    )
  }
  return [...changes.values()]
}
