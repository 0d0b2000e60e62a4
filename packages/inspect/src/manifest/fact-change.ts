import { describeLifetime } from 'keyspec'
import type { BareChange, ChangeCode } from './change.ts'
import { canonical } from './compare-value.ts'
import type { ManifestKey } from './manifest.ts'

/** What another lifetime means for keys that are there. */
export function lifetimeChanges(
  { lifetime: old }: ManifestKey,
  { lifetime: now }: ManifestKey,
  entry: string,
): BareChange[] {
  if (canonical({ ...old, reason: '' }) === canonical({ ...now, reason: '' })) return []
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
        advice: 'give it one',
        remedy: { kind: 'give-ttl', entry },
      },
    ]
  if (now.ttlMs < old.ttlMs)
    return [
      { ...change, impact: 'safe', advice: 'what is stored keeps the longer time until it is written again' },
    ]
  return [{ ...change, impact: 'safe' }]
}

/** What another codec of a placeholder means. */
export function paramChanges(old: ManifestKey, key: ManifestKey): BareChange[] {
  const [before, after] = [Object.entries(old.params), Object.entries(key.params)]
  if (before.length !== after.length) return []
  // By their places: a placeholder may have another name by now.
  return before.flatMap(([, codec], at): BareChange[] => {
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

/** Changes of what is said beside pattern, value and lifetime; none of them touches a key. */
export function factChanges(old: ManifestKey, key: ManifestKey): BareChange[] {
  const changes: BareChange[] = []
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
  const people = ': a person’s keys are found by another placeholder, or no longer'
  say('subject-changed', 'the subject', old.subject, key.subject, people)
  say(
    'evictable-changed',
    'evictable',
    old.evictable,
    key.evictable,
    ': the policy of the server may have to change',
  )
  say('budget-changed', 'the budget in bytes', old.budgetBytes, key.budgetBytes, '')
  say('owner-changed', 'the owner', old.owner, key.owner, '')
  return changes
}

/** What another version means, or the same one of something else. */
export function fingerprintChanges(
  { fingerprint: old }: ManifestKey,
  { fingerprint: now }: ManifestKey,
): BareChange[] {
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
