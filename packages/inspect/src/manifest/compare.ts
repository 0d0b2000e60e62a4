import { shapeOf } from 'keyspec/extend'
import type { Change } from './change.ts'
import { factChanges, fingerprintChanges, lifetimeChanges, paramChanges } from './fact-change.ts'
import type { Manifest, ManifestKey } from './manifest.ts'
import { layoutChanges, type Place } from './layout-change.ts'
import { nameChanges } from './name-change.ts'
import { valueChanges } from './value-change.ts'

/** Every change from one manifest to a later one, by entry: what it means for the keys that are there and for who reads them. */
export function compareManifests(before: Manifest, after: Manifest): Change[] {
  const changes: Change[] = []
  if (before.prefix !== after.prefix) {
    changes.push({
      code: 'prefix-changed',
      impact: 'safe',
      entry: '',
      pattern: after.prefix,
      before: before.prefix,
      message: `the prefix was "${before.prefix}", is "${after.prefix}": another keyspace, with keys of its own`,
    })
  }
  const { pairs, gone, added } = matched(placesOf(before), placesOf(after))
  for (const [old, now] of pairs) changes.push(...changesOf(old, now))
  changes.push(...layoutChanges(pairs))
  for (const { entry, key } of gone) changes.push(removal(entry, key))
  for (const { entry, key } of added)
    changes.push({
      code: 'added',
      impact: 'safe',
      entry,
      pattern: key.pattern,
      message: `${key.pattern} is new`,
    })
  return changes.sort((a, b) => (a.entry < b.entry ? -1 : a.entry > b.entry ? 1 : 0))
}

function placesOf({ entries }: Manifest): Place[] {
  return entries.flatMap(({ entry, layout, keys }) => keys.map((key) => ({ entry, layout, key })))
}

/** Which pattern became which: first by its keys, then by `renamedFrom`, then by its place in the entry. */
function matched(old: readonly Place[], now: readonly Place[]) {
  const gone = [...old]
  let added = now
  const pairs: [Place, Place][] = []
  const pair = (isSame: (one: Place, other: Place) => boolean) => {
    added = added.filter((other) => {
      const at = gone.findIndex((one) => isSame(one, other))
      if (at !== -1) pairs.push([...gone.splice(at, 1), other] as [Place, Place])
      return at === -1
    })
  }
  pair((one, other) => one.key.pattern === other.key.pattern)
  pair((one, other) => shapeOf(one.key.pattern) === shapeOf(other.key.pattern))
  pair((one, other) => other.key.renamedFrom.includes(one.key.pattern))
  pair((one, other) => one.entry === other.entry && one.key.about === other.key.about)
  pair((one, other) => one.entry === other.entry && one.key.type === other.key.type)
  pair((one, other) => one.entry === other.entry)
  return { pairs, gone, added }
}

function removal(entry: string, key: ManifestKey): Change {
  const what = { code: 'removed', entry, pattern: key.pattern, oldKeysGoneAfterMs: goneAfter(key) } as const
  if (key.external !== undefined)
    return { ...what, impact: 'safe', message: `${key.pattern} of ${key.external.by} is not known any more` }
  if (key.lifetime.ttlMs !== 'forever')
    return { ...what, impact: 'safe', message: `${key.pattern} is gone; what is stored expires` }
  return {
    ...what,
    impact: 'migration',
    message: `${key.pattern} is gone, and its keys live forever`,
    advice: 'delete them while they are still declared, or declare them as external',
    remedy: { kind: 'erase', entry },
  }
}

function* changesOf({ entry: oldEntry, key: old }: Place, { entry, key }: Place): Generator<Change> {
  const place = {
    entry,
    pattern: key.pattern,
    ...(old.pattern === key.pattern ? {} : { before: old.pattern }),
    oldKeysGoneAfterMs: goneAfter(old),
  }
  const forever = old.lifetime.ttlMs === 'forever'
  const isVersioned = old.fingerprint !== undefined && old.fingerprint.version !== key.fingerprint?.version
  const values = [...valueChanges(old, key)]
  // What has another name, or another version in it, is not read as what was there before.
  const isElsewhere = shapeOf(old.pattern) !== shapeOf(key.pattern) && !key.renamedFrom.includes(old.pattern)
  const isNew = isVersioned || (isElsewhere && !forever)

  if (oldEntry !== entry)
    yield {
      ...place,
      code: 'entry-renamed',
      impact: 'safe',
      message: `was the entry ${oldEntry}; its keys are the same`,
    }
  yield* nameChanges(old, key, values.length > 0 && isElsewhere).map((change) => ({ ...place, ...change }))
  if (key.external === undefined && old.external === undefined) {
    for (const { direction, ...change } of values) {
      if (isNew || direction === 'compatible') {
        const advice = isNew
          ? { advice: 'what is stored is not read as this: it has another name or version' }
          : {}
        yield { ...place, ...change, impact: 'safe', ...advice }
      } else if (direction === 'narrowed') {
        yield {
          ...place,
          ...change,
          impact: forever ? 'migration' : 'version',
          advice: forever
            ? 'make what is stored fit before the new program runs'
            : 'give the keys another name, with a version in it; the old ones expire',
        }
      } else {
        yield {
          ...place,
          ...change,
          impact: 'breaks',
          advice:
            'let every reader take the new form before anything writes it, or give the keys another name',
        }
      }
    }
    yield* lifetimeChanges(old, key, entry).map((change) => ({ ...place, ...change }))
  }
  yield* paramChanges(old, key).map((change) => ({ ...place, ...change }))
  yield* factChanges(old, key).map((change) => ({ ...place, ...change }))
  yield* fingerprintChanges(old, key).map((change) => ({ ...place, ...change }))
}

function goneAfter({ lifetime }: ManifestKey): number | 'never' {
  return lifetime.ttlMs === 'forever' ? 'never' : lifetime.ttlMs
}
