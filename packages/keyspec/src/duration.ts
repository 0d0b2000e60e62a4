import { SchemaError } from './errors.ts'

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

/** A span of time as people write it: `'250ms'`, `'30s'`, `'15m'`, `'24h'`, `'7d'`, `'2w'`. */
export type Duration = `${number}${keyof typeof UNIT_MS}`

/**
 * The longest duration, 10,000 years: what is added to it (the time, another duration) is still a whole number for Lua and
 * JavaScript, an instant for Date, and no overflow for Redis.
 */
export const LONGEST_DURATION_MS = 3_650_000 * UNIT_MS.d

/** The whole milliseconds in a duration; a `SchemaError` unless it is a positive number with a unit, at most 10,000 years. */
export function milliseconds(duration: Duration): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(duration) ?? []
  const ms = Math.round(Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS])
  if (!Number.isSafeInteger(ms) || ms <= 0) {
    throw new SchemaError(
      `"${duration}" is not a duration: write a positive number and a unit, as in '30s', '24h', '7d'`,
    )
  }
  if (ms > LONGEST_DURATION_MS)
    throw new SchemaError(`"${duration}" is too long: a duration is at most '3650000d'`)
  return ms
}

/** The shortest exact spelling of a span: `86400000` is `'24h'`, `5400000` is `'90m'`. */
export function spell(ms: number): Duration {
  if (ms % UNIT_MS.d === 0 && ms > UNIT_MS.d) return `${ms / UNIT_MS.d}d`
  if (ms % UNIT_MS.h === 0) return `${ms / UNIT_MS.h}h`
  if (ms % UNIT_MS.m === 0) return `${ms / UNIT_MS.m}m`
  if (ms % UNIT_MS.s === 0) return `${ms / UNIT_MS.s}s`
  return `${ms}ms`
}
