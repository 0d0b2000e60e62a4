import type { Argument, Reply } from '../../connection/connection.ts'
import { isUnavailable } from '../../connection/server-error.ts'
import { keyWriter, prefixed } from '../../kind/key-name.ts'
import { type Home, homeOf, Key } from '../../kind/key.ts'
import { type EntryOptions, type KeySpec, keySpec, type Opening, type RedisType } from '../../kind/kind.ts'
import { ttlFor } from '../../kind/lifetime.ts'
import { digits, rest } from '../../script/argument.ts'
import { arrayReply, decodeReply, integerReply } from '../../connection/reply.ts'
import { script } from '../../script/script.ts'
import { requireSamePlaceholders } from '../../pattern.ts'
import * as lua from './lua.gen.ts'

/** Whether a swapped collection was replaced: nothing never takes the place of something. */
export type ReplaceResult =
  | { readonly replaced: true; readonly size: number }
  | { readonly replaced: false; readonly reason: 'empty' }

/** What a swapped collection declares beside its lifetime. */
export interface SwapOptions {
  /** The pattern of the key that the next one is staged in, with the same placeholders: on a cluster, the same hash tag. */
  readonly staging: string
  /** Told of each read of the whole that found nothing: the key, and what kept Redis from answering where that was why. */
  readonly onMissing?: (key: string, cause?: unknown) => void
  /**
   * What reading the whole answers while Redis cannot be reached: nothing, as if missing. Unless it is said, and for every
   * other verb, the client's error passes through.
   */
  readonly unreachable?: 'empty'
}

/** The two keys of a swapped collection. */
export function swapSpecs(
  pattern: string,
  type: RedisType,
  codec: KeySpec['codec'],
  options: EntryOptions<any, any> & SwapOptions,
): readonly [KeySpec, KeySpec] {
  const { staging, params = {}, subject } = options
  const spec = keySpec(pattern, type, codec, options)
  const staged = keySpec(staging, type, codec, {
    ttl: 'forever',
    reason: `stands only while it is filled, then becomes "${pattern}"`,
    params,
    ...(subject === undefined ? {} : { subject }),
    about: `The next "${pattern}", being filled`,
  })
  requireSamePlaceholders(staged.pattern, spec.pattern, `"${pattern}" is staged in "${staging}"`)
  return [spec, staged]
}

function replacing(command: 'HSET' | 'SADD', type: RedisType) {
  return script(`swap/replace-${type}`, {
    keys: ['staging', 'key'],
    args: { ttlMs: digits, values: rest },
    lua: `local command = '${command}' ${lua.replace}`,
    commands: ['PEXPIRE', 'RENAME', 'TYPE', 'UNLINK', command],
    types: { staging: type, key: type },
    reply: integerReply,
  })
}
const replace = { SADD: replacing('SADD', 'set'), HSET: replacing('HSET', 'hash') }

/** The commands that replacing takes, by the one that stages. */
export const REPLACING = { SADD: replace.SADD.commands, HSET: replace.HSET.commands }

/** What the keys of one entry share. */
export interface SwapHome extends Home, Omit<SwapOptions, 'staging'> {
  readonly stagingOf: (params: Readonly<Record<string, unknown>>) => string
}

/** What the keys of one entry share. */
export function swapHome(
  [spec, staged]: readonly [KeySpec, KeySpec],
  opening: Opening,
  { onMissing, unreachable }: SwapOptions,
): SwapHome {
  return {
    ...homeOf(spec, opening),
    ...(onMissing === undefined ? {} : { onMissing }),
    ...(unreachable === undefined ? {} : { unreachable }),
    stagingOf: keyWriter(prefixed(staged.pattern, opening.prefix), staged.params),
  }
}

/** A collection that is replaced whole, whatever its type. */
export abstract class SwappedKey extends Key {
  declare protected readonly home: SwapHome
  readonly #params: Readonly<Record<string, unknown>>

  constructor(home: SwapHome, name: string, params: Readonly<Record<string, unknown>>) {
    super(home, name)
    this.#params = params
  }

  /**
   * Stages and swaps in one step, which no reader and no other writer can come between. The step holds the server while
   * the new elements are written, some milliseconds a thousand; the old ones are freed in the background.
   */
  protected async swap(command: 'SADD' | 'HSET', values: readonly Argument[]): Promise<ReplaceResult> {
    if (values.length === 0) return { replaced: false, reason: 'empty' }
    const { connection, lifetime, stagingOf } = this.home
    const keys = { staging: stagingOf(this.#params), key: this.name }
    return {
      replaced: true,
      size: await replace[command].run(connection, keys, { ttlMs: ttlFor(lifetime), values }),
    }
  }

  /** What a read of the whole answered; nothing, and a word to `onMissing`, where there is nothing. */
  protected async whole(reading: Promise<Reply>): Promise<readonly Reply[]> {
    const { onMissing, unreachable } = this.home
    try {
      const reply = decodeReply(arrayReply, await reading, this.name)
      // Redis keeps no empty collection: nothing in it means that there is no key.
      if (reply.length === 0) onMissing?.(this.name)
      return reply
    } catch (error) {
      if (unreachable !== 'empty' || !isUnavailable(error)) throw error
      onMissing?.(this.name, error)
      return []
    }
  }
}
