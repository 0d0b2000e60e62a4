import type { BareChange } from './change.ts'
import type { ManifestKey } from './manifest.ts'

/** What another pattern means; `hasOtherValues` where the values under it are others too. */
export function nameChanges(old: ManifestKey, key: ManifestKey, hasOtherValues: boolean): BareChange[] {
  const dropped = old.was
    .filter((before) => before !== key.pattern && !key.was.includes(before))
    .map((before): BareChange => ({
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

/** A pattern without the names of its placeholders: what its keys look like. */
export function shapeOf(pattern: string): string {
  return pattern.replaceAll(/<[^*>]*(\*?)>/g, '<>')
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
