import type { Duration } from 'keyspec'

/** The environment, as it comes. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A setting from the environment, or an `Error` that says which is missing. */
export function required(env: Environment, name: string): string {
  const value = env[name]?.trim()
  if (value === undefined || value === '') throw new Error(`${name} is not set`)
  return value
}

/** A whole number from the environment. */
export function wholeNumber(env: Environment, name: string, otherwise: number): number {
  const text = env[name]?.trim()
  if (text === undefined || text === '') return otherwise
  if (!/^\d+$/.test(text)) throw new Error(`${name} is "${text}"; it must be a whole number`)
  return Number(text)
}

/** A duration from the environment, such as `5m`; the schema refuses what is none. */
export function duration(env: Environment, name: string): { readonly lease?: Duration } {
  const text = env[name]?.trim()
  return text === undefined || text === '' ? {} : { lease: text as Duration }
}

/** Whether a setting is on: `1`, not `0`, nothing else. */
export function isOn(env: Environment, name: string): boolean {
  const text = env[name]?.trim() ?? ''
  if (!['', '0', '1'].includes(text)) throw new Error(`${name} is "${text}"; it must be 1 or 0`)
  return text === '1'
}
