import { shapeOf } from 'keyspec/extend'
import type { BareChange } from './change.ts'
import type { ManifestKey } from './manifest.ts'

/** What another pattern means; `hasOtherValues` where the values under it are others too. */
export function nameChanges(old: ManifestKey, key: ManifestKey, hasOtherValues: boolean): BareChange[] {
  const dropped: BareChange[] = old.renamedFrom
    .filter((before) => before !== key.pattern && !key.renamedFrom.includes(before))
    .map((before): BareChange => ({
      code: 'old-name-dropped',
      impact: 'migration',
      message: `the old name ${before} is read no longer`,
      advice:
        old.phase === undefined || old.phase === 3
          ? 'only after a verification of the migration found no key under it'
          : 'only from phase 3 of the rename, and after a verification of the migration found no key under it',
      remedy: { kind: 'verify-migration' },
    }))
  dropped.unshift(...phaseChanges(old, key))
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
  if (key.renamedFrom.includes(old.pattern) && key.phase !== undefined && key.phase !== 1)
    return [
      {
        code,
        impact: 'migration',
        message: `was ${old.pattern}${slots}, at phase ${key.phase} at once; programs that know only the old name split its keys`,
        advice: 'declare phase 1 first, and go on once no program without it runs',
      },
      ...dropped,
    ]
  if (key.renamedFrom.includes(old.pattern))
    return [
      {
        code,
        impact: 'safe',
        message: `was ${old.pattern}${slots}; at phase 1 the old name is read and written`,
        advice: 'declare phase 2 once no program without this rename runs',
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
      advice: `declare renamedFrom: { pattern: ${JSON.stringify(old.pattern)}, phase: 1 }, and follow the phases of a rename`,
    },
    ...dropped,
  ]
}

/** What another phase of the same rename means, as far as two declarations can say it. */
function phaseChanges({ phase: old }: ManifestKey, { phase: now }: ManifestKey): BareChange[] {
  if (old === undefined || now === undefined || old === now) return []
  const change = { code: 'phase-changed', phases: [old, now] } as const
  const message = `the rename was at phase ${old}, is at ${now}`
  if (Math.abs(old - now) > 1)
    return [
      {
        ...change,
        impact: 'breaks',
        message: `${message}: programs at both split its keys, and refuse each other`,
        advice: 'deploy phase 2 everywhere in between',
      },
    ]
  if (now < old)
    return [{ ...change, impact: 'safe', message: `${message}: programs at both may run together` }]
  const needed =
    now === 2
      ? 'no program that knows only the old name may run'
      : 'every program must be at phase 2, and no key may stand at an old name'
  const advice = `${needed}: look for the evidence on the server`
  return [{ ...change, impact: 'migration', message, advice, remedy: { kind: 'look-for-evidence' } }]
}

/** A pattern without the names of its placeholders. */
function nameOf(pattern: string): string {
  return pattern.replaceAll(/<[^<*>]*(\*?)>/g, '<$1>')
}

function starOf(pattern: string): number {
  return pattern.indexOf('*>')
}

function tagOf(pattern: string): string | undefined {
  const name = nameOf(pattern)
  const open = name.indexOf('{')
  const close = name.indexOf('}', open + 1)
  return open < 0 || close <= open + 1 ? undefined : name.slice(open + 1, close)
}
