import { pageOf } from '../connection/page.ts'
import { KeyError, withoutValue } from '../errors.ts'
import { type Connection, ALL_KEYS, NO_KEY, ONE_KEY, type Reply } from '../connection/connection.ts'
import { decodeReply, integerReply, listReply, textReply } from '../connection/reply.ts'
import type { ParamCodec, ParamTexts, ParamValues } from '../param.ts'
import { type Pattern, pattern as parsePattern } from '../pattern.ts'
import type { Key } from './key.ts'
import type { KeySpec, Opening } from './kind.ts'
import { refused } from './refused.ts'

/**
 * An entry of an open keyspace: called with the values of its placeholders it gives the key. It never throws: the verbs
 * of a key that cannot be named reject with a `KeyError`.
 * `K` is the key's handle, `M` the handle of many keys at once, `P` the pattern, `C` its param codecs.
 */
export interface Entry<P extends string, C, K, M = Many<K>> {
  (
    ...params: {} extends ParamValues<P, C> ? [params?: Record<string, never>] : [params: ParamValues<P, C>]
  ): K
  /** Many keys at once: what is asked of them goes out together. */
  many(params: Iterable<ParamValues<P, C>>): M
  /**
   * The keys of this entry that exist now, found with SCAN in batches of `count`. A key that comes or goes meanwhile may
   * be missed; one may be shown twice while the server rehashes. Keys that still have an old name come first, once each.
   */
  scan(options?: {
    readonly count?: number
  }): AsyncGenerator<{ readonly params: ParamTexts<P, C>; readonly key: K }>
  /** The placeholders of one of its keys, or `undefined` when the key is not one of them. */
  parse(key: string): ParamTexts<P, C> | undefined
}

/** Many keys of one entry. */
export class Many<K> implements Iterable<K> {
  protected readonly keys: readonly K[]
  protected readonly connection: Connection

  constructor(keys: readonly K[], connection: Connection) {
    this.keys = keys
    this.connection = connection
  }

  [Symbol.iterator](): Iterator<K> {
    return this.keys[Symbol.iterator]()
  }

  /** How many of them exist. */
  async exists(): Promise<number> {
    return this.#count('EXISTS')
  }

  /** Deletes them, freeing their memory in the background (UNLINK); answers how many there were. */
  async delete(): Promise<number> {
    return this.#count('UNLINK')
  }

  // One command a key on a cluster, where they may live in different slots; the client pipelines them.
  async #count(command: string): Promise<number> {
    const names = this.keys.map((key) => (key as Key).name)
    const most = this.connection.cluster ? 1 : 512
    const sent: Promise<Reply>[] = []
    for (let at = 0; at < names.length; at += most) {
      sent.push(this.connection.send([command, ...names.slice(at, at + most)], ALL_KEYS))
    }
    return (await Promise.all(sent)).reduce<number>((sum, count) => sum + decodeReply(integerReply, count), 0)
  }
}

/**
 * Opens one pattern of a kind: its keys are written and read with the keyspace's prefix. `keyAt` makes the handle of one
 * key; a recipe over several keys makes their names from `params`, with a `keyWriter` for each.
 */
export function openEntry<P extends string, C, K, M = Many<K>>(
  spec: KeySpec,
  opening: Opening,
  keyAt: (name: string, params: Readonly<Record<string, unknown>>) => K,
  manyOf: (keys: readonly K[], connection: Connection) => M = (keys, connection) =>
    new Many(keys, connection) as M,
): Entry<P, C, K, M> {
  const { connection, prefix } = opening
  const pattern = prefixed(spec.pattern, prefix)
  const nameOf = keyWriter(pattern, spec.params)
  const parse = keyReader<Record<string, unknown>>(pattern, spec.params)
  const old = (spec.phase === 3 ? [] : spec.renamedFrom).map((before) => {
    const renamedFrom = prefixed(before, prefix)
    return [renamedFrom, keyReader<Record<string, unknown>>(renamedFrom, spec.params)] as const
  })

  const entry = (params: Record<string, unknown> = {}) => {
    try {
      return keyAt(nameOf(params), params)
    } catch (error) {
      return refused(error) as K
    }
  }
  // A key that was found is shown, whatever its verbs say.
  const found = (name: string, params: Record<string, unknown>) => {
    try {
      return keyAt(name, params)
    } catch (error) {
      return refused(error) as K
    }
  }
  const methods = {
    many(params: Iterable<Record<string, unknown>>): M {
      let failed: { readonly error: unknown } | undefined
      const keys: K[] = []
      try {
        for (const each of params) {
          try {
            keys.push(keyAt(nameOf(each), each))
          } catch (error) {
            failed ??= { error }
            keys.push(refused(error) as K)
          }
        }
      } catch (error) {
        failed ??= { error }
      }
      const many = manyOf(keys, connection)
      // What is not a `Many` has no verbs of its own.
      return failed !== undefined && many instanceof Many ? (refused(failed.error, keys) as M) : many
    },
    parse,
    async *scan(options: { readonly count?: number } = {}) {
      // In the body, since a generator's parameters are read when it is called.
      const { count = 512 } = options
      // A key that is used while it is shown may move to its new name, where the scan finds it again.
      const shown = new Set<string>()
      for (const [before, read] of old) {
        for await (const oldName of scanNames(connection, before, count)) {
          const params = read(oldName)
          const name = params === undefined ? undefined : nameOrNone(nameOf, params)
          if (params === undefined || name === undefined || shown.has(name)) continue
          shown.add(name)
          yield { params, key: found(name, params) }
        }
      }
      for await (const name of scanNames(connection, pattern, count)) {
        const params = shown.has(name) ? undefined : parse(name)
        if (params !== undefined) yield { params, key: found(name, params) }
      }
    },
  }
  return Object.assign(entry, methods) as unknown as Entry<P, C, K, M>
}

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

/** A SCAN pattern that finds every key of a pattern, and perhaps others: what it finds must still be parsed. */
export function globOf(pattern: Pattern): string {
  return pattern.parts
    .map((part) => ('literal' in part ? part.literal.replace(/[\\*?[\]]/g, '\\$&') : '*'))
    .join('')
}

/** A key of an old pattern may hold what cannot stand in the new one: then it is no key of the entry. */
function nameOrNone(
  nameOf: ReturnType<typeof keyWriter>,
  params: Record<string, unknown>,
): string | undefined {
  try {
    return nameOf(params)
  } catch (error) {
    if (error instanceof KeyError) return undefined
    throw error
  }
}

const TEXTS = listReply(textReply)

async function* scanNames(connection: Connection, pattern: Pattern, count: number): AsyncGenerator<string> {
  if (pattern.params.length === 0) {
    if ((await connection.send(['EXISTS', pattern.text], ONE_KEY)) === 1) yield pattern.text
    return
  }
  const glob = globOf(pattern)
  for (const master of await connection.masters()) {
    let cursor = '0'
    do {
      const reply = await master.send(['SCAN', cursor, 'MATCH', glob, 'COUNT', String(count)], NO_KEY)
      const [next, names] = pageOf(TEXTS, reply, 'SCAN')
      cursor = next
      yield* new Set(names)
    } while (cursor !== '0')
  }
}
