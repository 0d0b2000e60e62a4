import type { Argument } from '../connection/connection.ts'
import { ILL_FORMED } from '../pattern.ts'
import { ArgumentRangeError, ArgumentTypeError } from '../errors.ts'

/** How a script takes an argument: `encode` on our side, and the Lua statement that reads it into its name. */
export interface ScriptArgument<T> {
  encode(value: T): Argument
  /** A Lua statement, on one line, that makes `name` a local from the expression `raw`. */
  local(name: string, raw: string): string
  /** The encoded form that `local` also makes of nil, so that at the end of the arguments it need not travel. */
  readonly unsaid?: string
}

/** A whole number; ids beyond 2^53 travel as `text`, since Lua's numbers are doubles. */
export const int: ScriptArgument<number> = {
  encode(value) {
    if (!Number.isSafeInteger(value))
      throw new ArgumentRangeError(`a script takes whole numbers, not ${value}`)
    return String(value)
  },
  local: (name, raw) => `local ${name} = tonumber(${raw})`,
}

/** A whole number that the script only hands on to commands: text in Lua, which would write a number anew for each of them. */
export const digits: ScriptArgument<number> = {
  encode: int.encode,
  local: (name, raw) => `local ${name} = ${raw}`,
}

/** Any finite number. */
export const double: ScriptArgument<number> = {
  encode(value) {
    if (!Number.isFinite(value)) throw new ArgumentRangeError(`a script takes finite numbers, not ${value}`)
    return String(value)
  },
  local: (name, raw) => `local ${name} = tonumber(${raw})`,
}

/** Text or bytes, which Lua holds alike. */
export const text: ScriptArgument<Argument> = {
  encode: wellFormed,
  local: (name, raw) => `local ${name} = ${raw}`,
}

/** Text or bytes as they are; a `TypeError` for text with a lone surrogate, which would be sent as another text. */
export function wellFormed(value: Argument): Argument {
  if (typeof value === 'string' && !value.isWellFormed())
    throw new ArgumentTypeError(`not sent: ${ILL_FORMED}`)
  return value
}

/** A boolean. */
export const flag: ScriptArgument<boolean> = {
  encode: (value) => (value ? '1' : '0'),
  local: (name, raw) => `local ${name} = ${raw} == '1'`,
  unsaid: '0',
}

/** The server's clock in milliseconds since the epoch, unless a test names the instant. */
export const serverNow: ScriptArgument<number | undefined> = {
  encode: (value) => (value === undefined ? '' : String(value)),
  local: (name, raw) =>
    `local ${name} = tonumber(${raw}) if not ${name} then local time = redis.call('TIME') ` +
    `${name} = time[1] * 1000 + math.floor(time[2] / 1000) end`,
  unsaid: '',
}

/** How many equal calls this one stands for: 1, unless the tick made one of several (see `merge` of `script`). */
export const times: ScriptArgument<number | undefined> = {
  encode: (value = 1) => String(value),
  local: (name, raw) => `local ${name} = tonumber(${raw} or 1)`,
  unsaid: '1',
}

/** All the arguments that remain, as a table: the last argument only. */
export interface RestArgument {
  readonly rest: true
}

/** All the arguments that remain, as a Lua table; must be declared last. */
export const rest: RestArgument = { rest: true }

/** The arguments of a script by their names in Lua. */
export type Arguments = { readonly [name: string]: ScriptArgument<any> | RestArgument }

/** How each argument travels, in order. */
export type Hows = readonly (ScriptArgument<any> | RestArgument)[]

/** What need not travel, of the arguments at the end. */
export function unsaidOf(hows: Hows): readonly string[] {
  const forms = hows.map((how) => ('rest' in how ? undefined : how.unsaid))
  return forms.slice(forms.lastIndexOf(undefined) + 1) as string[]
}
