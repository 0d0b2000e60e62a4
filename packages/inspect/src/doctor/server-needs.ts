import type { Schema, Size } from 'keyspec'
import { type OwnedPattern, patternsOf } from 'keyspec/extend'

/** How the server is to be set, as one declares it beside the schema. */
export interface ServerPolicy {
  /** `none`: nothing may be written to disk. `required`: what is there must outlive the process. Else the entries decide. */
  readonly persistence?: 'none' | 'required'
  /** `maxmemory-policy`, as redis.conf spells it. Else the entries decide which will do. */
  readonly maxmemoryPolicy?: string
  /** `maxmemory` must be set, and be no more than this. */
  readonly maxmemory?: Size
}

/** What the entries of a schema ask of a server. */
export interface ServerNeeds {
  readonly policy: ServerPolicy
  /** Patterns that must not be evicted: those that expire, and those that do not. */
  readonly keptExpiring: readonly OwnedPattern[]
  readonly keptForever: readonly OwnedPattern[]
  /** Patterns that may be evicted: those that expire, and those that do not. */
  readonly evictableExpiring: readonly OwnedPattern[]
  readonly evictableForever: readonly OwnedPattern[]
}

/** What a schema, and what is declared beside it, asks of a server. */
export function serverNeeds(schema: Schema, prefix: string, policy: ServerPolicy): ServerNeeds {
  const all = [...patternsOf(schema, prefix)].filter(({ legacy }) => !legacy)
  const those = (isEvictable: boolean, isForever: boolean) =>
    all.filter(
      ({ spec }) => spec.evictable === isEvictable && (spec.lifetime.ttlMs === 'forever') === isForever,
    )
  return {
    policy,
    keptExpiring: those(false, false),
    keptForever: those(false, true),
    evictableExpiring: those(true, false),
    evictableForever: those(true, true),
  }
}

/** The entries of some patterns, each once. */
export function entriesOf(patterns: readonly OwnedPattern[]): string[] {
  return [...new Set(patterns.map(({ entry }) => entry))]
}

/** Entries in words: `a, b, c and 4 more`. */
export function listed(entries: readonly string[]): string {
  const shown = entries.slice(0, 3).join(', ')
  return entries.length <= 3 ? shown : `${shown} and ${entries.length - 3} more`
}
