import type { Environment } from '@keyspec-systems/model'

/** What the environment says about Redis and the limits. */
export interface Settings {
  readonly redisUrl: string
  readonly redisPassword: string | undefined
  readonly cacheTtlSeconds: number
  readonly rateLimitEnabled: boolean
}

/**
 * Reads `REDIS_URL` (`redis://localhost:6379/0` unless told), `REDIS_PASSWORD`, `CACHE_TTL_SECONDS` (86,400 unless told)
 * and `RATE_LIMIT_ENABLED` (`true` unless told). An empty variable counts as absent; an `Error` names one that is wrong.
 */
export function settings(environment: Environment): Settings {
  const given = (name: string) => environment[name]?.trim() || undefined
  return {
    redisUrl: given('REDIS_URL') ?? 'redis://localhost:6379/0',
    redisPassword: given('REDIS_PASSWORD'),
    cacheTtlSeconds: wholeNumber('CACHE_TTL_SECONDS', given('CACHE_TTL_SECONDS') ?? '86400', 1),
    rateLimitEnabled: yesOrNo('RATE_LIMIT_ENABLED', given('RATE_LIMIT_ENABLED') ?? 'true'),
  }
}

/** A whole number from the environment. */
export function wholeNumber(name: string, text: string, least = 0): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value
  throw new Error(`${name} is "${text}"; it must be a whole number${least > 0 ? ` from ${least}` : ''}`)
}

/** `true` or `false`, as Python, shells and people write it. A typing error must not switch a limit off. */
function yesOrNo(name: string, text: string): boolean {
  if (/^(?:true|1|yes|on)$/i.test(text)) return true
  if (/^(?:false|0|no|off)$/i.test(text)) return false
  throw new Error(`${name} is "${text}"; it must be true or false`)
}
