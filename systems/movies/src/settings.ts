import { type Environment, SettingsError } from '@keyspec-systems/model'

/** A setting from the environment, or a `SettingsError` that says which is missing. */
export function required(environment: Environment, name: string): string {
  const value = environment[name]?.trim()
  if (!value) throw new SettingsError(`${name} is not set`)
  return value
}

/** A whole number from the environment. */
export function wholeNumber(environment: Environment, name: string, otherwise: number): number {
  const text = environment[name]?.trim()
  if (!text) return otherwise
  if (!/^\d{1,9}$/.test(text)) throw new SettingsError(`${name} is "${text}"; it must be a whole number`)
  return Number(text)
}

/** `MOVIES_ENV`, which stands before every key (`prod:`): without it staging and production could share keys. */
export function environmentName(environment: Environment): string {
  const name = required(environment, 'MOVIES_ENV')
  if (!/^[A-Za-z0-9_-]+$/.test(name))
    throw new SettingsError(`MOVIES_ENV is "${name}"; it may hold letters, digits, - and _`)
  return name
}
