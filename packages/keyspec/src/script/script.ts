import type { Argument, Command, Connection, Reply, Shape } from '../connection/connection.ts'
import { ServerError } from '../connection/server-error.ts'
import { KeyspecError, SchemaError, ScriptError } from '../errors.ts'
import { type Arguments, type ScriptArgument, unsaidOf } from './argument.ts'
import { equalCalls, mergeRuns, overKeys, repeated } from './merged-scripts.ts'
import type { ReplyDecoder } from './reply.ts'
import { isUnknown, prelude, sendKnown, sendText, sourceOf } from './source.ts'

/** What a script takes: a value for each argument it names; those that may be `undefined` can be left out. */
export type ScriptValues<A extends Arguments> = {
  readonly [N in keyof A as undefined extends ValueOf<A[N]> ? never : N]: ValueOf<A[N]>
} & {
  readonly [N in keyof A as undefined extends ValueOf<A[N]> ? N : never]?: ValueOf<A[N]>
}

type ValueOf<A> = A extends ScriptArgument<infer T> ? T : readonly Argument[]

/** A Lua script as a typed function over a connection. */
export interface Script<K extends string, A extends Arguments, R> {
  readonly name: string
  readonly keys: readonly K[]
  /** What Redis runs: the prelude that binds the names, and the body on the same line. */
  readonly source: string
  /** Runs it on these keys; rejects with a `ScriptError` when the script itself fails. */
  run(connection: Connection, keys: ScriptKeys<K>, values: ScriptValues<A>): Promise<R>
}

/** The keys a script is run on; one declared as `old*` stands for several, as text or bytes: a list here, a table in Lua. */
export type ScriptKeys<K extends string> = {
  readonly [N in K as N extends `${infer Bare}*` ? Bare : N]: N extends `${string}*`
    ? readonly Argument[]
    : string
}

/** What describes a script; see `script`. */
export interface ScriptOptions<K extends string, A extends Arguments, R> {
  /** The Lua names of its keys. The last may end in `*`: it takes the keys that remain, as a table. */
  readonly keys: readonly K[]
  /** The Lua names of its arguments, and how each travels. */
  readonly args: A
  readonly lua: string
  readonly reply: ReplyDecoder<R>
  /** The strings of the reply come as bytes. */
  readonly bytes?: boolean
  /**
   * Calls of one tick on the same keys that stand side by side run in one EVALSHA, each with its own answer or error. Not
   * with `rest`. With `true` the body runs once for each of them. A function splits the answer instead: the body then has
   * an argument of the form `times`, which says for how many equal calls it is to decide at once, on one key; equal calls
   * on different keys run in one EVALSHA too (not on a cluster), the body once for each key.
   */
  readonly merge?: boolean | Split
}

/** From the answer for so many equal calls, the answer of each, in the order they were asked. */
export type Split = (reply: Reply, count: number) => readonly Reply[]

/**
 * Describes a script. The Lua body reads its keys and arguments by name: the names are bound in a prelude on the body's
 * first line, so that the line numbers of Redis's errors are those of the `.lua` file.
 */
export function script<const K extends string, A extends Arguments, R>(
  name: string,
  { keys, args, lua, reply, bytes = false, merge = false }: ScriptOptions<K, A, R>,
): Script<K, A, R> {
  const starred = keys.at(-1)?.endsWith('*') === true
  const plain = sourceOf(() => `${prelude(keys, args)} ${lua}`)
  const names = Object.keys(args)
  const hows = Object.values(args)
  const bare = keys.map((key) => (key.endsWith('*') ? key.slice(0, -1) : key))
  if (merge !== false && (starred || hows.some((how) => 'rest' in how)))
    throw new SchemaError(`script ${name}: calls that take any number of keys or arguments cannot be merged`)
  const unsaid = merge === true ? [] : unsaidOf(hows)
  const keyCountText = String(keys.length)
  const base = { firstKey: 3, keyCount: keys.length, ...(bytes ? { bytes } : {}) }
  const shape: Shape =
    merge === false
      ? base
      : merge === true
        ? {
            ...base,
            merge: mergeRuns(
              plain,
              sourceOf(() => repeated(plain.text)),
              keys.length,
              hows.length,
              base,
            ),
          }
        : {
            ...base,
            merge: equalCalls(
              name,
              merge,
              plain,
              sourceOf(() => overKeys(keys, args, lua)),
              hows,
              keys.length,
              base,
            ),
          }

  return {
    name,
    keys,
    get source() {
      return plain.text
    },
    async run(connection, keyValues, values) {
      const command: Argument[] = ['EVALSHA', plain.sha, keyCountText]
      for (let at = 0; at < bare.length; at++) {
        const value = (keyValues as Record<string, string | readonly Argument[]>)[bare[at]!]!
        if (typeof value === 'string') command.push(value)
        else command.push(...value)
      }
      const keyCount = command.length - 3
      if (starred) command[2] = String(keyCount)
      for (let at = 0; at < names.length; at++) {
        const value = (values as Record<string, unknown>)[names[at]!]
        const how = hows[at]!
        if ('rest' in how) for (const item of value as readonly Argument[]) command.push(item)
        else command.push(how.encode(value))
      }
      for (let at = unsaid.length; at > 0 && command.at(-1) === unsaid[at - 1]; at--) command.pop()
      const own = starred ? { ...shape, keyCount } : shape
      let answer: Reply
      try {
        try {
          // A merge knows by itself whether the text is to be sent.
          answer = await (shape.merge === undefined
            ? sendKnown(connection, plain, command, own)
            : connection.send(command, own))
        } catch (error) {
          if (!isUnknown(error)) throw error
          answer = await sendText(connection, plain, command, starred ? own : base)
        }
      } catch (error) {
        throw told(error, name, command)
      }
      try {
        return reply(answer)
      } catch (error) {
        throw error instanceof KeyspecError ? error : new ScriptError(name, keyOf(command), error)
      }
    },
  }
}

function keyOf(command: Command): string | undefined {
  return command[2] === '0' ? undefined : String(command[3])
}

function told(error: unknown, name: string, command: Command): unknown {
  return error instanceof ServerError && error.code === 'E_SERVER'
    ? new ScriptError(name, keyOf(command), error)
    : error
}
