import type { Codec } from '../../codec/codec.ts'
import { milliseconds } from '../../duration.ts'
import { SchemaError } from '../../errors.ts'
import { type Entry, openEntry } from '../../kind/entry.ts'
import { homeOf } from '../../kind/key.ts'
import { keyWriter, prefixed, wholePattern } from '../../kind/key-name.ts'
import { type EntryOptions, type Kind, type KeySpec, keySpec, type Opening } from '../../kind/kind.ts'
import { VERBS } from '../../kind/permission.ts'
import { stringHome } from '../../kind/string.ts'
import type { ParamCodecs, ParamValues } from '../../param.ts'
import { type CacheHome, CacheKey } from './cache-key.ts'
import { type CacheOptions, checkNear, lockSpec, sharedFor } from './cache-options.ts'
import { Loads } from './load.ts'
import { ManyCached } from './many-cached.ts'
import { dropping, Near } from './near.ts'
import { type CacheStats, noStats } from './stats.ts'

/** An entry of caches: `keys.ocr({ content })` is a `CacheKey`, `keys.ocr.stats()` what it has counted. */
export type CacheEntry<P extends string, C, T, In> = Entry<
  P,
  C,
  CacheKey<T, In>,
  ManyCached<ParamValues<P, C>, T, In>
> & {
  /** What has been counted since the keyspace was opened, in this process. */
  stats(): CacheStats
}

/**
 * Values that can be computed again: whoever asks for one that is missing waits for one load, however many ask in however
 * many processes. While Redis cannot be reached `getOrLoad` loads; its other verbs reject with the client's error.
 *
 * @example
 * ocr: cache('cache:ocr:<content>', json(Ocr), { ttl: '7d', params: { content: param.digest() } })
 * const page = await keys.ocr({ content: file }).getOrLoad(() => recognise(file))
 */
export function cache<const P extends string, T, In, const C extends ParamCodecs<P> = {}>(
  pattern: P,
  codec: Codec<T, In>,
  options: EntryOptions<P, C> & CacheOptions,
): Kind<CacheEntry<P, C, T, In>> {
  const spec = keySpec(pattern, 'string', codec, options)
  const lock = lockSpec(spec, options)
  checkNear(spec, options)
  const loadTimeoutMs = milliseconds(options.loadTimeout ?? '1m')
  const failureTtlMs = sharedFor('failureTtl', options, lock)
  const absenceTtlMs = sharedFor('absenceTtl', options, lock)
  return {
    keys: [spec, lock],
    together: true,
    layout: 2,
    commands: [...VERBS.string, 'DEL', 'PUBLISH'],
    channels: [lock],
    open(given) {
      const stats = noStats()
      const near = nearOf<T>(spec, options, given)
      const opening = near === undefined ? given : { ...given, connection: dropping(given.connection, near) }
      const lockPattern = wholePattern(lock, opening.prefix, opening.connection.cluster)
      const lockNameOf = keyWriter(lockPattern, lock.params)
      // Of a name that is a hash tag as a whole: braces in it would put the lock into another slot.
      const isTag =
        lockPattern.hashTag !== undefined && prefixed(spec.pattern, opening.prefix).hashTag === undefined
      const shared = {
        ...stringHome(homeOf(spec, opening), codec),
        stats,
        moments: { latest: 0 },
        subscriber: opening.subscriber,
        lock: {
          connection: opening.connection,
          ttlMs: lock.lifetime.ttlMs as number,
          wakes: opening.subscriber !== undefined,
        },
        loadTimeoutMs,
        failureTtlMs,
        absenceTtlMs,
        lockNameOf,
      }
      const freezes = options.near !== undefined
      const home: CacheHome<T, In> = { ...shared, loads: new Loads(shared), near, freezes }
      const entry = openEntry<P, C, CacheKey<T, In>, ManyCached<ParamValues<P, C>, T, In>>(
        spec,
        opening,
        (name, params) => {
          if (isTag && BRACE.test(name)) lockNameOf(params)
          return new CacheKey(home, name, params)
        },
        (keys, connection) => new ManyCached(keys, connection, home),
      )
      return Object.assign(entry, { stats: () => ({ ...stats }) })
    },
  }
}

const BRACE = /[{}]/

/** The copies of this cache, where it declares any and somebody tells of changes; none until its rename is at phase 3. */
function nearOf<T>(
  { pattern, phase }: KeySpec,
  { near }: CacheOptions,
  opening: Opening,
): Near<T> | undefined {
  const { watch, prefix } = opening
  if (near === undefined || watch === undefined || phase === 1 || phase === 2) return undefined
  const [first] = prefixed(pattern, prefix).parts
  if (first === undefined || !('literal' in first))
    throw new SchemaError(
      `"${pattern.text}" begins with a placeholder, so Redis would have to tell of every key that changes: ` +
        'give it a text to begin with, or leave out near',
    )
  const copies = new Near<T>(watch, near.most)
  watch.follow(first.literal, copies)
  return copies
}
