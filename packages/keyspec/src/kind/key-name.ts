import { KeyError, withoutValue } from '../errors.ts'
import type { ParamCodec } from '../param.ts'
import { type Pattern, pattern as parsePattern } from '../pattern.ts'
import type { KeySpec } from './kind.ts'

/** The pattern with the keyspace's prefix before it. */
export function prefixed(pattern: Pattern, prefix: string): Pattern {
  return prefix === '' ? pattern : parsePattern(prefix + pattern.text)
}

/** The pattern of a spec's keys with what stands before it, on one server or on a cluster. */
export function wholePattern({ pattern, onCluster }: KeySpec, before: string, cluster: boolean): Pattern {
  return cluster && onCluster !== undefined ? onCluster(before) : prefixed(pattern, before)
}

/** Writes a key from values; a `KeyError` names the pattern and the placeholder that cannot stand there. */
export function keyWriter(
  pattern: Pattern,
  codecs: KeySpec['params'],
): (params: Readonly<Record<string, unknown>>) => string {
  const { params, text } = pattern
  if (params.length === 0) return () => text
  const writers = params.map((name) => [name, codecs[name]] as const)
  const [[onlyName, onlyCodec]] = writers as [(typeof writers)[0]]
  if (writers.length === 1)
    return (values) => pattern.format([paramText(values[onlyName], onlyName, onlyCodec, text)])
  return (values) =>
    pattern.format(writers.map(([name, codec]) => paramText(values[name], name, codec, text)))
}

function paramText(
  value: unknown,
  name: string,
  codec: ParamCodec<any, any> | undefined,
  text: string,
): string {
  if (value === undefined || value === null) throw new KeyError(`${text}: <${name}> has no value`, text)
  if (codec !== undefined) {
    try {
      return codec.encode(value)
    } catch (error) {
      const cause = withoutValue(error, value)
      throw new KeyError(`${text}: <${name}> is not ${codec.name}: ${cause.message}`, text, cause)
    }
  }
  if (typeof value === 'string') return value
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value))) return String(value)
  throw new KeyError(
    `${text}: <${name}> is ${typeof value === 'number' ? value : `a ${typeof value}`}, not a text or a finite number`,
    text,
  )
}

/** Returns the name that `write` gives, or `undefined` if a value can stand in no key of that pattern. */
export function nameOrNone(write: () => string): string | undefined {
  try {
    return write()
  } catch (error) {
    if (error instanceof KeyError) return undefined
    throw error
  }
}

/** Reads the values of a key's placeholders, or `undefined` when it is not a key of this pattern. */
export function keyReader<T>(pattern: Pattern, codecs: KeySpec['params']): (key: string) => T | undefined {
  return (key) => {
    const texts = pattern.parse(key)
    if (texts === undefined) return undefined
    const values: Record<string, unknown> = {}
    for (const [index, name] of pattern.params.entries()) {
      const value = codecs[name] === undefined ? texts[index] : codecs[name].decode(texts[index]!)
      if (value === undefined) return undefined
      values[name] = value
    }
    return values as T
  }
}
