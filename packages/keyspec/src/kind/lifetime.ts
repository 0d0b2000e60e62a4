import { type Duration, milliseconds, spell } from '../duration.ts'
import { SchemaError } from '../errors.ts'

/** When a key's time to live starts anew: when it is created (never again), at each write, or at each read and write. */
export type Renewal = 'creation' | 'write' | 'read'

/** How long keys live, as one declares it. There is no default: a key that lives forever says why. */
export type LifetimeOptions =
  | {
      readonly ttl: Duration
      /** When the time starts anew; at each write unless said otherwise. */
      readonly renew?: Renewal
      /** Spreads expiry: each key lives up to this fraction shorter, so that what was written together does not end together. */
      readonly jitter?: number
      readonly reason?: never
    }
  | { readonly ttl: 'forever'; readonly reason: string; readonly renew?: never; readonly jitter?: never }

/** How long keys live, as the tools read it. */
export type Lifetime =
  | { readonly ttlMs: number; readonly renew: Renewal; readonly jitter: number }
  | { readonly ttlMs: 'forever'; readonly reason: string }

/** Checks a declared lifetime; a `SchemaError` names the pattern where it is missing or makes no sense. */
export function lifetime(pattern: string, options: LifetimeOptions): Lifetime {
  const { ttl, reason, renew = 'write', jitter = 0 } = options ?? {}
  if (ttl === undefined)
    throw new SchemaError(
      `"${pattern}" declares no ttl: say how long its keys live, or 'forever' and the reason`,
    )
  if (ttl === 'forever') {
    if (reason === undefined || reason.trim() === '')
      throw new SchemaError(`"${pattern}" lives forever: say why, in \`reason\``)
    return { ttlMs: 'forever', reason }
  }
  if (!(jitter >= 0 && jitter < 1))
    throw new SchemaError(`"${pattern}": jitter is a fraction of the ttl, from 0 up to 1`)
  return { ttlMs: milliseconds(ttl), renew, jitter }
}

/** The time to live for a key written now, in ms; 0 stands for forever. */
export function ttlFor(lifetime: Lifetime): number {
  if (lifetime.ttlMs === 'forever') return 0
  if (lifetime.jitter === 0) return lifetime.ttlMs
  return Math.max(1, Math.round(lifetime.ttlMs * (1 - Math.random() * lifetime.jitter)))
}

/** A lifetime in words, for tables: `24h, renewed on write`, `forever: the job ids`. */
export function describeLifetime(lifetime: Lifetime): string {
  if (lifetime.ttlMs === 'forever') return `forever: ${lifetime.reason}`
  const when = { creation: 'from its creation', write: 'from the last write', read: 'from the last use' }[
    lifetime.renew
  ]
  return `${spell(lifetime.ttlMs)} ${when}`
}
