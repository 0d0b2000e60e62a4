import { type Lifetime, ttlFor } from '../kind/lifetime.ts'
import { digits, text } from '../script/argument.ts'

/** The arguments of a script that gives its key a lifetime, as `write.lua` does. */
export const LIFETIME = { ttlMs: digits, renew: text } as const

/** Their values for a key written now. */
export function lifetimeNow(lifetime: Lifetime): { readonly ttlMs: number; readonly renew: string } {
  return { ttlMs: ttlFor(lifetime), renew: lifetime.ttlMs === 'forever' ? 'write' : lifetime.renew }
}
