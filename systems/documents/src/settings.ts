import type { Duration } from 'keyspec'

/** The environment, as it comes. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A setting from the environment, or an `Error` that says which is missing. */
export function required(env: Environment, name: string): string {
  const value = env[name]?.trim()
  if (value === undefined || value === '') throw new Error(`${name} is not set`)
  return value
}

/** A whole number above 0 from the environment. */
export function wholeNumber(env: Environment, name: string, otherwise: number): number {
  const text = env[name]?.trim()
  if (text === undefined || text === '') return otherwise
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`${name} is "${text}"; it must be a whole number above 0`)
  return Number(text)
}

/** How many jobs of one queue a batch may begin, and in which time: `RATE_LIMIT` and `RATE_LIMIT_PER`. */
export function limits(env: Environment): { readonly limit: number; readonly per: Duration } {
  const per = (env['RATE_LIMIT_PER']?.trim() || '1m') as Duration
  return { limit: wholeNumber(env, 'RATE_LIMIT', 600), per }
}
