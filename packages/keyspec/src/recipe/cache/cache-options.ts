import { text } from '../../codec/text.ts'
import { type Duration, milliseconds } from '../../duration.ts'
import { SchemaError } from '../../errors.ts'
import { prefixed } from '../../kind/key-name.ts'
import { type KeySpec, keySpec } from '../../kind/kind.ts'
import { type Pattern, pattern as parsePattern, requireSamePlaceholders } from '../../pattern.ts'

/** What a cache may declare beside its lifetime. */
export interface CacheOptions {
  /**
   * The pattern of the key that says which process loads an entry, with the same placeholders. On a cluster it must share the
   * slot of the entry, else a load could write what was deleted before.
   *
   * @default `lock:` and the pattern of the entry. On a cluster, if neither this pattern nor the prefix has a {hash tag}, the
   * whole name of the entry is the tag: `lock:{page:<id>}`, under the prefix `app:` `app:lock:{app:page:<id>}`. Placeholders
   * then take no braces
   */
  readonly lock?: string
  /**
   * How long a lock outlives a loader that has died; 10 s unless said. It is renewed while the load runs, so a load may
   * take longer, but a process that stands still for longer loses it, and what it loaded is not kept.
   */
  readonly lockTtl?: Duration
  /**
   * How long one load may take. A load that takes longer is abandoned: those who wait for it in this process get a
   * `LoadTimeoutError`, its signal is aborted, its lock is given back so that another process may load, and a value that it
   * gives later is dropped. A caller that waits for loads of other processes is rejected in the same way after twice this
   * time and `lockTtl`.
   *
   * @default '1m'
   */
  readonly loadTimeout?: Duration
  /**
   * How long the failure of a load is shared with all who ask, in every process, at most `lockTtl`. They are rejected with a
   * `LoadFailedError` and do not load. Only the name and the code of the error reach other processes, never its message.
   *
   * @default none: only those who waited for that load are told of it, the next caller loads
   */
  readonly failureTtl?: Duration
  /**
   * How long it is shared with all who ask that a load gave `undefined` (negative caching), at most `lockTtl`. `delete` ends
   * it, and so does a write of the entry.
   *
   * @default none: only those who waited for that load are told of it, the next caller loads
   */
  readonly absenceTtl?: Duration
  /**
   * Keeps copies in this process's memory, of `most` entries at most, where the keyspace is opened with `invalidations`; else
   * Redis is read each time. Redis tells which entries change, so a copy is older than Redis by one message at most; where
   * the connection dies without a word, by 3 s. Values are frozen where that keeps everybody from changing them (what
   * JSON can hold), as all share one; others are decoded for each read.
   */
  readonly near?: { readonly most: number }
}

/** The spec of the key that says which process loads an entry. */
export function lockSpec(spec: KeySpec, { lock, lockTtl = '10s' }: CacheOptions): KeySpec {
  const { pattern, params, subject, renamedFrom, phase } = spec
  const found = keySpec(lock ?? `lock:${pattern.text}`, 'string', text, {
    ttl: lockTtl,
    params,
    about: `Held by whoever loads "${pattern.text}"`,
    ...(subject === undefined ? {} : { subject }),
    // Under its usual name the lock is renamed with the entry, or programs of two phases would load side by side.
    ...(lock === undefined && phase !== undefined
      ? { renamedFrom: { pattern: renamedFrom.map((old) => `lock:${old.text}`), phase } }
      : {}),
  })
  requireSamePlaceholders(found.pattern, pattern, `"${pattern.text}" is locked by "${lock}"`)
  return lock === undefined
    ? { ...found, onCluster: (before) => besideOnCluster(spec, found, before) }
    : found
}

/** The pattern of a lock in the slot of its entry: with the entry's whole name as its hash tag, unless both have one. */
function besideOnCluster(entry: KeySpec, lock: KeySpec, before: string): Pattern {
  const { hashTag, text } = prefixed(entry.pattern, before)
  return hashTag === undefined ? parsePattern(`${before}lock:{${text}}`) : prefixed(lock.pattern, before)
}

/** How long an outcome is shared: no longer than the lock's key lives, in which it is kept. */
export function sharedFor(
  name: 'failureTtl' | 'absenceTtl',
  options: CacheOptions,
  { pattern, lifetime }: KeySpec,
): number | undefined {
  const declared = options[name]
  if (declared === undefined) return undefined
  const ms = milliseconds(declared)
  if (ms > (lifetime.ttlMs as number))
    throw new SchemaError(
      `"${pattern.text}": ${name} is ${declared}, but lives in the key of the lock: declare a lockTtl that is as long`,
    )
  return ms
}

/** Refuses copies that no cache can keep. */
export function checkNear({ pattern, lifetime }: KeySpec, { near }: CacheOptions): void {
  if (near === undefined) return
  if (!Number.isSafeInteger(near.most) || near.most < 1)
    throw new SchemaError(`"${pattern.text}": near.most is how many copies are kept at most, 1 or more`)
  if (lifetime.ttlMs !== 'forever' && lifetime.renew === 'read')
    throw new SchemaError(
      `"${pattern.text}" is renewed by reads, which copies near would keep from Redis: leave out one of the two`,
    )
}
