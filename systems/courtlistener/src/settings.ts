/** The environment, as it comes. */
export type Environment = Readonly<Record<string, string | undefined>>

/** What can be set of the quota and of how long keys live. */
export interface Settings {
  readonly callLimitPerHour: number
  /** Calls of the limit that are never made, for whoever else uses the token. */
  readonly safetyBuffer: number
  readonly counterTtlHours: number
  readonly stateTtlHours: number
  /** How many workers share what is left of the quota while Redis cannot be reached. */
  readonly workers: number
  /** Whether a worker then refuses every call, instead of admitting from its share. */
  readonly refusesWithoutRedis: boolean
}

/** The settings of the document. */
export const defaults: Settings = {
  callLimitPerHour: 5000,
  safetyBuffer: 25,
  counterTtlHours: 2,
  stateTtlHours: 25,
  workers: 3,
  refusesWithoutRedis: false,
}

/** The settings that an environment asks for; an `Error` names a variable that makes no sense. */
export function settingsOf(env: Environment): Settings {
  const settings = {
    callLimitPerHour: wholeNumber(env, 'CALL_LIMIT_PER_HOUR', defaults.callLimitPerHour),
    safetyBuffer: wholeNumber(env, 'COURTLISTENER_SAFETY_BUFFER', defaults.safetyBuffer, 0),
    counterTtlHours: wholeNumber(env, 'REDIS_COUNTER_TTL_HOURS', defaults.counterTtlHours),
    stateTtlHours: wholeNumber(env, 'REDIS_STATE_TTL_HOURS', defaults.stateTtlHours),
    workers: wholeNumber(env, 'COURTLISTENER_WORKERS', defaults.workers),
    refusesWithoutRedis: oneOf(env, 'COURTLISTENER_WITHOUT_REDIS', ['share', 'refuse']) === 'refuse',
  }
  if (settings.safetyBuffer >= settings.callLimitPerHour) {
    throw new Error('COURTLISTENER_SAFETY_BUFFER leaves no call of CALL_LIMIT_PER_HOUR')
  }
  return settings
}

/** The same settings as an environment, for a program that is started. */
export function environmentOf(settings: Settings): Record<string, string> {
  return {
    CALL_LIMIT_PER_HOUR: String(settings.callLimitPerHour),
    COURTLISTENER_SAFETY_BUFFER: String(settings.safetyBuffer),
    REDIS_COUNTER_TTL_HOURS: String(settings.counterTtlHours),
    REDIS_STATE_TTL_HOURS: String(settings.stateTtlHours),
    COURTLISTENER_WORKERS: String(settings.workers),
    COURTLISTENER_WITHOUT_REDIS: settings.refusesWithoutRedis ? 'refuse' : 'share',
  }
}

/** A whole number from the environment. */
export function wholeNumber(env: Environment, name: string, otherwise: number, least = 1): number {
  const text = env[name]?.trim() ?? ''
  if (text === '') return otherwise
  if (!/^\d{1,15}$/.test(text) || Number(text) < least) {
    throw new Error(`${name} is "${text}"; it must be a whole number from ${least}`)
  }
  return Number(text)
}

function oneOf(env: Environment, name: string, words: readonly string[]): string | undefined {
  const text = env[name]?.trim() || words[0]
  if (text === undefined || words.includes(text)) return text
  throw new Error(`${name} is "${text}"; it must be ${words.join(' or ')}`)
}
