import { describeLifetime } from '../../kind/lifetime.ts'
import { canonical, compareValues, type Shift } from './compare-value.ts'
import type { Manifest, ManifestKey, ManifestValue } from './manifest.ts'

/**
 * What a change asks for. `safe`: nothing. `version`: what is stored is misread, so it should get another name. `migration`: what
 * is stored must be moved or mended. `breaks`: programs that still run with the old declaration cannot read what is written.
 */
export type Impact = 'safe' | 'version' | 'migration' | 'breaks'

/** One change between two manifests. */
export interface Change {
  readonly code: ChangeCode
  readonly impact: Impact
  readonly entry: string
  readonly pattern: string
  /** The pattern that it had before, where it had another. */
  readonly before?: string
  readonly message: string
  /** What to do, where something is to be done. */
  readonly advice?: string
  /** When the last key that was written under the old declaration is gone, in ms from its last write; absent for what is new. */
  readonly oldKeysGoneAfterMs?: number | 'never'
}

/** What can change. */
export type ChangeCode =
  | 'prefix-changed'
  | 'added'
  | 'removed'
  | 'entry-renamed'
  | 'placeholder-renamed'
  | 'placeholder-widened'
  | 'placeholder-narrowed'
  | 'renamed'
  | 'old-name-dropped'
  | 'hash-tag-changed'
  | 'type-changed'
  | 'codec-changed'
  | 'value-changed'
  | 'field-added'
  | 'field-removed'
  | 'lifetime-changed'
  | 'param-changed'
  | 'subject-changed'
  | 'evictable-changed'
  | 'budget-changed'
  | 'owner-changed'
  | 'fingerprint-changed'
  | 'version-raised'

/** Every change from one manifest to a later one, by entry: what it means for the keys that are there and for who reads them. */
export function compare(before: Manifest, after: Manifest): Change[] {
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

interface Place {
  readonly entry: string
  readonly key: ManifestKey
}

function placesOf({ entries }: Manifest): Place[] {
  return entries.flatMap(({ entry, keys }) => keys.map((key) => ({ entry, key })))
}

/** Which pattern became which: first by its keys, then by `was`, then by its place in the entry. */
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
  pair((one, other) => other.key.was.includes(one.key.pattern))
  pair((one, other) => one.entry === other.entry && one.key.about === other.key.about)
  pair((one, other) => one.entry === other.entry && one.key.type === other.key.type)
  pair((one, other) => one.entry === other.entry)
  return { pairs, gone, added }
}

/** A pattern without the names of its placeholders: what its keys look like. */
function shapeOf(pattern: string): string {
  return pattern.replaceAll(/<[^*>]*(\*?)>/g, '<>')
}

function removal(entry: string, key: ManifestKey): Change {
  const what = { code: 'removed', entry, pattern: key.pattern, oldKeysGoneAfterMs: goneAfter(key) } as const
  if (key.foreign !== undefined)
    return { ...what, impact: 'safe', message: `${key.pattern} of ${key.foreign.by} is not known any more` }
  if (key.lifetime.ttlMs !== 'forever')
    return { ...what, impact: 'safe', message: `${key.pattern} is gone; what is stored expires` }
  return {
    ...what,
    impact: 'migration',
    message: `${key.pattern} is gone, and its keys live forever`,
    advice: 'delete them with keyspec erase before the declaration goes, or declare them as foreign',
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
  const isElsewhere = shapeOf(old.pattern) !== shapeOf(key.pattern) && !key.was.includes(old.pattern)
  const isNew = isVersioned || (isElsewhere && !forever)

  if (oldEntry !== entry)
    yield {
      ...place,
      code: 'entry-renamed',
      impact: 'safe',
      message: `was the entry ${oldEntry}; its keys are the same`,
    }
  yield* nameChanges(old, key, values.length > 0 && isElsewhere).map((change) => ({ ...place, ...change }))
  if (key.foreign === undefined && old.foreign === undefined) {
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
    yield* lifetimeChanges(old, key).map((change) => ({ ...place, ...change }))
  }
  yield* paramChanges(old, key).map((change) => ({ ...place, ...change }))
  yield* factChanges(old, key).map((change) => ({ ...place, ...change }))
  yield* fingerprintChanges(old, key).map((change) => ({ ...place, ...change }))
}

type Bare = Pick<Change, 'code' | 'impact' | 'message' | 'advice'>

function nameChanges(old: ManifestKey, key: ManifestKey, hasOtherValues: boolean): Bare[] {
  const dropped = old.was
    .filter((before) => before !== key.pattern && !key.was.includes(before))
    .map((before): Bare => ({
      code: 'old-name-dropped',
      impact: 'migration',
      message: `the old name ${before} is read no longer`,
      advice: 'only after keyspec migrate verify finds no key under it',
    }))
  if (old.pattern === key.pattern) return dropped
  if (nameOf(old.pattern) === nameOf(key.pattern)) {
    const message = `was ${old.pattern}; the keys are the same`
    return [{ code: 'placeholder-renamed', impact: 'safe', message }, ...dropped]
  }
  if (shapeOf(old.pattern) === shapeOf(key.pattern)) {
    const [before, after] = [starOf(old.pattern), starOf(key.pattern)]
    if (before === -1)
      return [
        {
          code: 'placeholder-widened',
          impact: 'safe',
          message: `was ${old.pattern}; a value may hold colons now`,
        },
        ...dropped,
      ]
    return [
      {
        code: 'placeholder-narrowed',
        impact: 'migration',
        message: `was ${old.pattern}; keys whose value holds colons belong to it no longer`,
        advice:
          after === -1 ? 'keep the * while there are such keys' : 'give such keys an entry of their own',
      },
      ...dropped,
    ]
  }
  const code = tagOf(old.pattern) === tagOf(key.pattern) ? 'renamed' : 'hash-tag-changed'
  const slots = code === 'renamed' ? '' : ', in another slot of a cluster'
  if (key.was.includes(old.pattern))
    return [
      {
        code,
        impact: 'safe',
        message: `was ${old.pattern}${slots}; it is read where only it exists, and moved`,
        advice: 'keyspec migrate run moves the rest',
      },
      ...dropped,
    ]
  // A new name for new values is what a version is for; what lives forever is left behind all the same.
  if (hasOtherValues && old.lifetime.ttlMs !== 'forever')
    return [
      {
        code,
        impact: 'safe',
        message: `was ${old.pattern}${slots}, with other values: the old keys are read no longer, and expire`,
      },
      ...dropped,
    ]
  return [
    {
      code,
      impact: 'migration',
      message: `was ${old.pattern}${slots}; what is stored there is read no longer`,
      advice: `declare was: [${JSON.stringify(old.pattern)}], and run keyspec migrate`,
    },
    ...dropped,
  ]
}

interface ValueChange {
  readonly code: ChangeCode
  readonly message: string
  readonly direction: Shift['direction']
}

function* valueChanges(old: ManifestKey, key: ManifestKey): Generator<ValueChange> {
  if (old.type !== key.type) {
    const message = `the type was ${old.type}, is ${key.type}: each program fails on the keys of the other`
    yield { code: 'type-changed', direction: 'unknown', message }
    return
  }
  if (old.value !== undefined && key.value !== undefined) yield* shifts(old.value, key.value, '')
  const [fields, nextFields] = [old.fields ?? {}, key.fields ?? {}]
  for (const [name, value] of Object.entries(fields)) {
    const next = nextFields[name] ?? nextFields['*']
    if (next !== undefined) yield* shifts(value, next, name)
    else
      yield {
        code: 'field-removed',
        // Whoever counted on it finds nothing; what is stored stays unread.
        direction: 'widened',
        message: `the field ${name} is gone, and readers of before look for it`,
      }
  }
  for (const [name, value] of Object.entries(nextFields)) {
    if (fields[name] !== undefined) continue
    if (fields['*'] !== undefined && name !== '*') yield* shifts(fields['*'], value, name)
    else yield { code: 'field-added', direction: 'compatible', message: `the field ${name} is new` }
  }
}

function* shifts(old: ManifestValue, now: ManifestValue, field: string): Generator<ValueChange> {
  const of = field === '' ? '' : ` of ${field}`
  if (old.codec !== now.codec) {
    const pair = `${old.codec} ${now.codec}`
    const direction =
      pair === 'integer decimal' ? 'widened' : pair === 'decimal integer' ? 'narrowed' : 'unknown'
    yield { code: 'codec-changed', direction, message: `the codec${of} was ${old.codec}, is ${now.codec}` }
    return
  }
  if (old.jsonSchema !== undefined && now.jsonSchema !== undefined) {
    for (const { direction, path, what } of compareValues(old.jsonSchema, now.jsonSchema)) {
      const place = [field, path].filter((each) => each !== '').join('.')
      yield { code: 'value-changed', direction, message: `${place === '' ? 'the value' : place}: ${what}` }
    }
  } else if (old.jsonSchema !== now.jsonSchema || old.note !== now.note) {
    const side = old.jsonSchema === undefined ? 'before' : 'now'
    const message = `the values${of} cannot be compared: there is no JSON Schema of those ${side}`
    yield { code: 'value-changed', direction: 'unknown', message }
  }
}

function lifetimeChanges({ lifetime: old }: ManifestKey, { lifetime: now }: ManifestKey): Bare[] {
  if (canonical({ ...old, because: '' }) === canonical({ ...now, because: '' })) return []
  const was = old.ttlMs === 'forever' ? 'forever' : describeLifetime(old)
  const is = now.ttlMs === 'forever' ? 'forever' : describeLifetime(now)
  const change = { code: 'lifetime-changed', message: `lived ${was}, lives ${is}` } as const
  if (now.ttlMs === 'forever')
    return [
      {
        ...change,
        impact: 'migration',
        message: `${change.message}: what is stored still expires`,
        advice: 'write such keys again, or PERSIST them, before they expire',
      },
    ]
  if (old.ttlMs === 'forever')
    return [
      {
        ...change,
        impact: 'migration',
        message: `${change.message}: what is stored has no time to live`,
        advice: 'keyspec cleanup --repair gives it one',
      },
    ]
  if (now.ttlMs < old.ttlMs)
    return [
      { ...change, impact: 'safe', advice: 'what is stored keeps the longer time until it is written again' },
    ]
  return [{ ...change, impact: 'safe' }]
}

function paramChanges(old: ManifestKey, key: ManifestKey): Bare[] {
  const [before, after] = [Object.entries(old.params), Object.entries(key.params)]
  if (before.length !== after.length) return []
  // By their places: a placeholder may have another name by now.
  return before.flatMap(([, codec], at): Bare[] => {
    const [name, now] = after[at]!
    if (codec === now) return []
    return [
      {
        code: 'param-changed',
        impact: old.lifetime.ttlMs === 'forever' ? 'migration' : 'version',
        message: `<${name}> was ${codec}, is ${now}: the same value may make another key, and a key another value`,
        advice: 'give the pattern another name, so that no key is taken for what it is not',
      },
    ]
  })
}

function factChanges(old: ManifestKey, key: ManifestKey): Bare[] {
  const changes: Bare[] = []
  const say = <T extends string | number | boolean>(
    code: ChangeCode,
    name: string,
    before: T | undefined,
    after: T | undefined,
    rest: string,
  ) => {
    if (before === after) return
    const message = `${name} was ${before ?? 'not declared'}, is ${after ?? 'not declared'}${rest}`
    changes.push({ code, impact: 'safe', message })
  }
  const people = ': keyspec erase --subject finds its keys by another placeholder, or no longer'
  say('subject-changed', 'the subject', old.subject, key.subject, people)
  say('evictable-changed', 'evictable', old.evictable, key.evictable, ': see keyspec doctor')
  say('budget-changed', 'the budget in bytes', old.budgetBytes, key.budgetBytes, '')
  say('owner-changed', 'the owner', old.owner, key.owner, '')
  return changes
}

function fingerprintChanges({ fingerprint: old }: ManifestKey, { fingerprint: now }: ManifestKey): Bare[] {
  if (old === undefined || now === undefined) return []
  if (old.version !== now.version)
    return [
      {
        code: 'version-raised',
        impact: 'safe',
        message: `the version was ${old.version}, is ${now.version}`,
      },
    ]
  if (old.digest === now.digest) return []
  return [
    {
      code: 'fingerprint-changed',
      impact: 'version',
      message: `what the values depend on has changed, and version ${old.version} has not: stored values stand for something else`,
      advice: 'raise the version',
    },
  ]
}

function goneAfter({ lifetime }: ManifestKey): number | 'never' {
  return lifetime.ttlMs === 'forever' ? 'never' : lifetime.ttlMs
}

/** A pattern without the names of its placeholders. */
function nameOf(pattern: string): string {
  return pattern.replaceAll(/<[^*>]*(\*?)>/g, '<$1>')
}

function starOf(pattern: string): number {
  return pattern.indexOf('*>')
}

function tagOf(pattern: string): string | undefined {
  return /\{([^}]+)\}/.exec(nameOf(pattern))?.[1]
}
