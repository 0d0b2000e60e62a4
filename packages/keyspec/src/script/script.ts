import type { Split } from './merge-equal.ts'
import type { Argument, Command, Connection, Reply, Shape } from '../connection/connection.ts'
import { ServerError } from '../connection/server-error.ts'
import { KeyspecError, SchemaError, ScriptError } from '../errors.ts'
import { type Arguments, type ScriptArgument, serverNow, unsaidOf, wellFormed } from './argument.ts'
import { equalCalls, mergeRuns, overKeys, repeated } from './merged-scripts.ts'
import { bare, isProvenEverywhere, permissionProof, type RedisType, typeProof } from './proof.ts'
import { type ReplyDecoder } from '../connection/reply.ts'
import { prelude, type Proof, resendLost, sendKnown, sourceOf } from './source.ts'

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
  /** Every command that it may run, in order; a subcommand behind its command: `XGROUP CREATE`. */
  readonly commands: readonly string[]
  /** What Redis runs: the prelude that binds the names, and the body on the same line. */
  readonly source: string
  /** Runs it on these keys; rejects with a `ScriptError` when the script itself fails. */
  run(connection: Connection, keys: ScriptKeys<K>, values: ScriptValues<A>): Promise<R>
}

/** The keys a script is run on; one declared as `old*` stands for several, as text or bytes: a list here, a table in Lua. */
export type ScriptKeys<K extends string> = {
  readonly [N in K as Bare<N>]: N extends `${string}*` ? readonly Argument[] : string
}

type Bare<N extends string> = N extends `${infer Name}*` ? Name : N

/** What describes a script; see `script`. */
export interface ScriptOptions<K extends string, A extends Arguments, R> {
  /** The Lua names of its keys. The last may end in `*`: it takes the keys that remain, as a table. */
  readonly keys: readonly K[]
  /** The Lua names of its arguments, and how each travels. */
  readonly args: A
  readonly lua: string
  /**
   * Every command that the body may run, a subcommand behind its command (`XGROUP CREATE`), besides those that it is given
   * by name in an argument; the TIME of `serverNow` goes without saying. Before the script first runs over a connection,
   * the user is proven to have the permission for each of them; see docs/design/scripts.md.
   */
  readonly commands: readonly string[]
  /** For an argument that names a command: those that it may name. A script runs it before it has written anything. */
  readonly given?: { readonly [N in keyof A]?: readonly string[] }
  /**
   * The types of keys. The script fails with WRONGTYPE, before its first command, if a key is of another type. A script
   * that writes twice names here each key that its reads do not prove.
   */
  readonly types?: { readonly [N in K as Bare<N>]?: RedisType }
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

/**
 * Describes a script. The Lua body reads its keys and arguments by name: the names are bound in a prelude on the body's
 * first line, so that the line numbers of Redis's errors are those of the `.lua` file.
 */
export function script<const K extends string, A extends Arguments, R>(
  name: string,
  { keys, args, lua, commands, types, reply, bytes = false, merge = false }: ScriptOptions<K, A, R>,
): Script<K, A, R> {
  const starred = keys.at(-1)?.endsWith('*') === true
  const names = Object.keys(args)
  const hows = Object.values(args)
  const keyNames = keys.map(bare)
  const typed: { readonly [name: string]: RedisType | undefined } = types ?? {}
  const all = new Set(commands)
  if (hows.includes(serverNow)) all.add('TIME')
  if (types !== undefined) all.add('TYPE')
  const allCommands = [...all].sort()
  const proof: Proof = { lua: keys.length === 0 ? '' : permissionProof(allCommands), passed: new WeakSet() }
  const checks = types === undefined ? '' : `${typeProof(keys, typed)} `
  const plain = sourceOf(() => `${prelude(keys, args)} ${checks}${lua}`, proof)
  if (merge !== false && (starred || hows.some((how) => 'rest' in how)))
    throw new SchemaError(`script ${name}: calls that take any number of keys or arguments cannot be merged`)
  const unsaid = merge === true ? [] : unsaidOf(hows)
  const keyCountText = String(keys.length)
  const base = { firstKey: 3, keyCount: keys.length, ...(bytes ? { bytes } : {}) }
  const shape: Shape = { ...base, ...mergeOf() }

  return {
    name,
    keys,
    commands: allCommands,
    get source() {
      return plain.text
    },
    async run(connection, keyValues, values) {
      const command: Argument[] = ['EVALSHA', plain.sha, keyCountText]
      for (let at = 0; at < keyNames.length; at++) {
        const value = (keyValues as Record<string, string | readonly Argument[]>)[keyNames[at]!]!
        if (typeof value === 'string') command.push(value)
        else command.push(...value)
      }
      const keyCount = command.length - 3
      if (starred) command[2] = String(keyCount)
      for (let at = 0; at < names.length; at++) {
        const value = (values as Record<string, unknown>)[names[at]!]
        const how = hows[at]!
        if ('rest' in how) for (const item of value as readonly Argument[]) command.push(wellFormed(item))
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
          answer = await resendLost(error, connection, plain, command, starred ? own : base)
        }
      } catch (error) {
        if (isDenied(error))
          throw await denial(connection, proof, allCommands, error, command, starred ? own : base)
        throw told(error, name, command)
      }
      try {
        return reply(answer)
      } catch (error) {
        throw error instanceof KeyspecError ? error : new ScriptError(name, keyOf(command), error)
      }
    },
  }

  function mergeOf(): Pick<Shape, 'merge'> {
    if (merge === false) return {}
    if (merge === true) {
      const several = sourceOf(() => repeated(plain.text), proof)
      return { merge: mergeRuns(plain, several, keys.length, hows.length, base) }
    }
    const several = sourceOf(() => overKeys(keys, args, checks + lua), proof)
    return { merge: equalCalls(name, merge, plain, several, hows, keys.length, base) }
  }
}

function keyOf(command: Command): string | undefined {
  return command[2] === '0' ? undefined : String(command[3])
}

function isDenied(error: unknown): error is ServerError {
  return error instanceof ServerError && error.code === 'E_DENIED'
}

/**
 * The error for a user that lacks a permission. The user's rules have changed since the proof passed, so it is due again.
 * Servers before Redis 7.2 do not name a command that was refused inside a script, but the proof does.
 */
async function denial(
  connection: Connection,
  proof: Proof,
  commands: readonly string[],
  error: ServerError,
  command: Command,
  shape: Shape,
): Promise<unknown> {
  proof.passed = new WeakSet()
  if (proof.lua === '' || error.isNamed) return error
  try {
    await connection.send(['EVAL', `${proof.lua} return 0`, ...command.slice(2)], shape)
  } catch (named) {
    if (isDenied(named)) return named
  }
  // Redis 6.2 has proven all others.
  const [left, ...more] = commands.filter((each) => !isProvenEverywhere(each))
  if (!OF_REDIS_6.test(error.reply) || left === undefined || more.length > 0) return error
  const rule = `+${left.toLowerCase()}`
  const named = { missing: `lacks the permission ${rule}`, rules: [rule], user: undefined }
  return new ServerError(error.reply, 'EVALSHA', error.key, error, { denial: named })
}

const OF_REDIS_6 = /^ERR Error running script .*can't run this command/

function told(error: unknown, name: string, command: Command): unknown {
  return error instanceof ServerError && error.code === 'E_SERVER'
    ? new ScriptError(name, keyOf(command), error)
    : error
}
